import { describeError, isOurFault } from "../db/client.ts";
import type { Context } from "../platform/context.ts";

/** Longer than the wait for a report is tried to be ended, so that the note is still there then. */
const KEPT_SECONDS = 24 * 60 * 60;

const keyOf = (runId: string): string => `refused_report:${runId}`;

/**
 * Notes, where the database could not take an agent's report (`error`), that it came at `at`: the agent has done its part,
 * and need not try again. What the database refused for what is in it is the agent's, and not noted. As good as can be:
 * where the note can't be kept either, only the log tells.
 */
export async function noteRefusedReport(ctx: Context, runId: string, at: Date, error: unknown): Promise<void> {
  if (!isOurFault(error)) return;
  ctx.log.warn("a report could not be kept", { run_id: runId });
  await ctx.redis.set(keyOf(runId), at.toISOString(), { ex: KEPT_SECONDS, nx: true }).catch((failure: unknown) => {
    ctx.log.error("nor could it be noted", { run_id: runId, detail: describeError(failure) });
  });
}

/** When the first report that could not be kept came, of each of these runs (at least one) that has any. */
export async function refusedReports(ctx: Context, runIds: readonly string[]): Promise<Record<string, string>> {
  const times = await ctx.redis.mget<(string | null)[]>(runIds.map(keyOf));
  return Object.fromEntries(runIds.flatMap((id, index) => (times[index] == null ? [] : [[id, times[index]]])));
}

/** Forgets what is noted of runs that were freed for it: it says nothing of the next time that they are taken up. */
export async function forgetRefusedReports(ctx: Context, runIds: readonly string[]): Promise<void> {
  if (runIds.length > 0) await ctx.redis.del(...runIds.map(keyOf));
}
