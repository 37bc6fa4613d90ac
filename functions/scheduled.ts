import { sql } from "drizzle-orm";
import { describeError } from "../shared/db/client.ts";
import { email_tokens, idempotency_keys, provider_events } from "../shared/db/schema/index.ts";
import type { Service } from "../shared/http/app.ts";
import type { Context } from "../shared/platform/context.ts";
import { forgetAllowances } from "../shared/billing/forget.ts";
import { reconcile } from "../shared/billing/reconcile.ts";
import { rescueCertifications, resumeCertifications } from "../shared/certification/advance.ts";
import { expireCertifications } from "../shared/certification/expire.ts";
import { finaliseAccounts } from "../shared/identity/finalise.ts";
import { denyEnded } from "../shared/identity/sessions.ts";
import { forgetEnded } from "../shared/identity/sign-out.ts";
import { newId } from "../shared/platform/ids.ts";
import { sweep } from "../shared/queue/outbox.ts";
import { scheduleRechecks } from "../shared/registry/recheck.ts";
import { startDueSchedules } from "../shared/schedules/due.ts";
import { reap } from "../shared/screening/end.ts";
import { forgetAddresses } from "../shared/screening/forget-addresses.ts";
import { recompute } from "../shared/screening/recompute.ts";
import { forgetSpans } from "../shared/telemetry/forget.ts";
import { forgetDeliveries } from "../shared/webhooks/forget.ts";
import { rescueDeliveries } from "../shared/webhooks/rescue.ts";
import { TAKERS } from "./provider-webhook.ts";

/** The two triggers of wrangler.toml. */
export const EVERY_MINUTE = "* * * * *";
export const DAILY = "17 3 * * *";

type Work = [name: string, work: (ctx: Context) => Promise<unknown>];

const SCHEDULE: Record<string, Work[]> = {
  [EVERY_MINUTE]: [
    ["sweep", sweep],
    ["reap", reap],
    ["deny ended sessions", denyEnded],
    ["rescue deliveries", rescueDeliveries],
    ["start due schedules", startDueSchedules],
    ["resume certifications", resumeCertifications],
  ],
  [DAILY]: [
    ["delete accounts", finaliseAccounts],
    ["forget ended sessions", forgetEnded],
    ["recompute", recompute],
    ["forget allowances", forgetAllowances],
    ["forget addresses", forgetAddresses],
    ["forget spans", forgetSpans],
    ["forget deliveries", forgetDeliveries],
    ["re-check manifests", scheduleRechecks],
    ["expire certifications", expireCertifications],
    ["rescue certifications", rescueCertifications],
    ["reconcile payments", (ctx) => reconcile(ctx, TAKERS)],
    // The provider repeats an event for 30 days at most, by hand.
    [
      "forget provider events",
      (ctx) => ctx.db.execute(sql`delete from ${provider_events} where done_at < now() - interval '60 days'`),
    ],
    ["forget keys", (ctx) => ctx.db.execute(sql`delete from ${idempotency_keys} where expires_at < now()`)],
    ["forget mailed tokens", (ctx) => ctx.db.execute(sql`delete from ${email_tokens} where expires_at < now()`)],
  ],
};

/** Does what is due at a trigger; one part that fails holds no other up, and is tried again at the next. */
export async function runSchedule(service: Service, cron: string): Promise<void> {
  const pending: Promise<unknown>[] = [];
  const ctx = service.context({
    requestId: newId(new Date()),
    addressHash: null,
    defer: (work) => void pending.push(work()),
  });
  for (const [name, work] of SCHEDULE[cron] ?? []) {
    await work(ctx).catch((error: unknown) => {
      ctx.log.error("scheduled work failed", { work: name, detail: describeError(error) });
    });
  }
  await Promise.all(pending);
}
