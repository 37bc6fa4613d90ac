import type { Service } from "../shared/http/app.ts";
import { expireCertifications } from "../shared/certification/expire.ts";
import { resumeCertifications } from "../shared/certification/resume.ts";
import { recordSuites } from "../shared/catalogue/record.ts";
import { DAILY_AT, startDaily, startMissedDaily } from "../shared/daily/start.ts";
import { foldMoves } from "../shared/board/spread.ts";
import { describeError } from "../shared/db/client.ts";
import { keepEpochs } from "../shared/epochs/keep.ts";
import { denyEnded } from "../shared/identity/sessions/deny.ts";
import type { Context } from "../shared/platform/context.ts";
import { newId } from "../shared/platform/ids.ts";
import { sweep } from "../shared/db/outbox.ts";
import { startDueSchedules } from "../shared/schedules/due.ts";
import { reap } from "../shared/runs/reap.ts";
import { integrate } from "../shared/transparency/integrate.ts";
import { forgetRemoved } from "../shared/webhooks/forget.ts";
import { rescueDeliveries } from "../shared/webhooks/rescue.ts";

/** The two triggers of wrangler.toml. */
export const EVERY_MINUTE = "* * * * *";
export const DAILY = `${DAILY_AT.minute} ${DAILY_AT.hour} * * *`;

type Work = [name: string, work: (ctx: Context) => Promise<unknown>];

const SCHEDULE: Record<string, Work[]> = {
  [EVERY_MINUTE]: [
    ["sweep", sweep],
    ["reap", reap],
    ["deny ended sessions", denyEnded],
    ["rescue deliveries", rescueDeliveries],
    ["forget removed subscriptions", forgetRemoved],
    ["start due schedules", startDueSchedules],
    ["resume certifications", resumeCertifications],
    // The daily work steps over those that the database refuses: until it comes, an agent would be shown as certified.
    ["expire certifications", (ctx) => expireCertifications(ctx, null)],
    ["keep the epochs", keepEpochs],
    ["record the suites", recordSuites],
    ["integrate the log", integrate],
    ["fold what moved on the boards", foldMoves],
    ["start daily work that was missed", startMissedDaily],
  ],
  [DAILY]: [["start the daily work", startDaily]],
};

/**
 * Does what is due at a trigger, side by side: a part that fails or takes long does not delay the others, and is tried
 * again at the next. Each part is bounded in itself, so that all of them together stay within what one invocation may send.
 */
export async function runSchedule(service: Service, cron: string): Promise<void> {
  const pending: Promise<unknown>[] = [];
  const ctx = service.context({
    isBackground: true,
    requestId: newId(new Date()),
    addressHash: null,
    defer: (work) => void pending.push(work()),
  });
  const parts = (SCHEDULE[cron] ?? []).map(([name, work]) =>
    work(ctx).catch((error: unknown) => {
      ctx.log.error("scheduled work failed", { work: name, detail: describeError(error) });
    }),
  );
  await Promise.all(parts);
  await Promise.all(pending);
}
