import * as z from "zod";
import { Instant } from "../platform/time.ts";

const State = z.enum(["ok", "down"]);

const DailyWork = z
  .object({
    name: z.string(),
    last_success_at: Instant.nullable().meta({ description: "When it was last done, whole and without fault" }),
    last_error: z.string().nullable().meta({ description: "What went wrong since then; the log says more" }),
    is_late: z.boolean().meta({
      description:
        "Whether it should have been done since: it is begun each night at 03:17 UTC, and late where it is not done four hours " +
        "after that. One that was never begun waits for its first night.",
    }),
  })
  .meta({ id: "DailyWork" });

export const Readiness = z
  .object({
    status: State,
    dependencies: z.object({ database: State, redis: State, queue: State }),
    daily: z.array(DailyWork).meta({
      description: "Each item of the daily work; empty while the database is down. It does not affect `status`.",
    }),
    minting: State.meta({
      description:
        "Whether the commitments to this epoch and the next two were in the log in time, and the service has the keys that " +
        "their secrets are encrypted with. It does not affect `status`. " +
        "Where the running epoch lacks either, runs of minted tasks end as `service_error`.",
    }),
    log: State.meta({
      description:
        "Whether what was said gets its place in the public log: `down` where an entry has waited for more than five " +
        "minutes. It does not affect `status`.",
    }),
    messages: State.meta({
      description:
        "Whether the queue takes what it is handed: `down` where a message, such as one that starts a run, has waited for more " +
        "than five minutes, as when the messages of its plan are used up. It does not affect `status`.",
    }),
    missing_settings: z.array(z.string()).meta({
      description:
        "`RESEND_API_KEY` where it is not set, so that no mail is sent, and `STRIPE_WEBHOOK_SECRET` where Stripe's key is set and " +
        "this is not, so that nothing that is paid for takes effect. It does not affect `status`.",
    }),
  })
  .meta({ id: "Readiness" });

/** Whether something the service stands on answers. */
export type State = z.output<typeof State>;
