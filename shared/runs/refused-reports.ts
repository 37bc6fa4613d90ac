import { describeError, isOurFault } from "../db/client.ts";
import type { Context } from "../platform/context.ts";
import type { Problem } from "../platform/problem.ts";
import { excerpt } from "./protocols/reading.ts";

/** Longer than the wait for a report is tried to be ended, so that the note is still there then. */
const KEPT_SECONDS = 24 * 60 * 60;

const unkeptKey = (runId: string): string => `refused_report:${runId.toLowerCase()}`;
const faultyKey = (runId: string): string => `faulty_report:${runId.toLowerCase()}`;

/** A report that was not taken for what it was: when it came, and why, with the status. */
export interface FaultyReport {
  at: string;
  why: string;
}

/** What is noted of reports that were not taken, by run. */
export interface RefusedReports {
  /** When the first one came that could not be kept. */
  unkept: Record<string, string>;
  /** The last one that was not taken for what it was. */
  faulty: Record<string, FaultyReport>;
}

/**
 * Notes, where the database could not take an agent's report (`error`), that it came at `at`: the agent has done its part,
 * and need not try again. What the database refused for what is in it is the agent's, and not noted. As good as can be:
 * where the note can't be kept either, only the log tells.
 */
export async function noteRefusedReport(ctx: Context, runId: string, at: Date, error: unknown): Promise<void> {
  if (!isOurFault(error)) return;
  ctx.log.warn("a report could not be kept", { run_id: runId });
  await ctx.redis.set(unkeptKey(runId), at.toISOString(), { ex: KEPT_SECONDS, nx: true }).catch((failure: unknown) => {
    ctx.log.error("nor could it be noted", { run_id: runId, detail: describeError(failure) });
  });
}

/**
 * Notes what was wrong with a report of a run's agent that came at `at`, for the run's owner, who else would not learn it: few agents keep what
 * they are answered. As good as can be.
 */
export async function noteFaultyReport(
  ctx: Context,
  runId: string,
  at: Date,
  { status, message }: Problem,
): Promise<void> {
  const noted: FaultyReport = { at: at.toISOString(), why: `${status}: ${excerpt(message)}` };
  await ctx.redis.set(faultyKey(runId), noted, { ex: KEPT_SECONDS }).catch((failure: unknown) => {
    ctx.log.warn("a faulty report could not be noted", { run_id: runId, detail: describeError(failure) });
  });
}

/** What is noted of reports of these runs (at least one). */
export async function refusedReports(ctx: Context, runIds: readonly string[]): Promise<RefusedReports> {
  const keys = [...runIds.map(unkeptKey), ...runIds.map(faultyKey)];
  const noted = await ctx.redis.mget<(string | FaultyReport | null)[]>(keys);
  const [unkept, faulty]: [RefusedReports["unkept"], RefusedReports["faulty"]] = [{}, {}];
  for (const [index, note] of noted.entries()) {
    const id = runIds[index % runIds.length] ?? "";
    if (typeof note === "string") unkept[id] = note;
    else if (note !== null) faulty[id] = note;
  }
  return { unkept, faulty };
}

/** Forgets what is noted of runs that were freed for it: it says nothing of the next time that they are taken up. */
export async function forgetRefusedReports(ctx: Context, runIds: readonly string[]): Promise<void> {
  if (runIds.length > 0) await ctx.redis.del(...runIds.map(unkeptKey), ...runIds.map(faultyKey));
}
