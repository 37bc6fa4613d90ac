import { describeError, isOurFault } from "../db/client.ts";
import type { Context } from "../platform/context.ts";

/** Exporters try again within seconds, by default for a minute at most. */
const RETRY_MS = 60_000;
/** How long a note is kept: as long as it can say anything, and a clock that is behind. Meanwhile there is no other. */
const KEPT_SECONDS = 2 * 60;
/** Of how many runs one export leaves a note. */
const NOTED = 100;

/** A run's id has dashes, the trace id that is the same has none. */
const keyOf = (runId: string): string => `refused_spans:${runId.replaceAll("-", "")}`;

/**
 * Notes, where the database could not take an export (`error`), of which runs it told: their spans are about to be sent
 * again. As good as can be, and whatever the token: all that a note does is to have a run scored a minute later, and however
 * many are refused meanwhile, that minute is the only one.
 */
export async function noteRefusedSpans(ctx: Context, runIds: Iterable<string>, error: unknown): Promise<void> {
  if (!isOurFault(error)) return;
  const until = new Date(ctx.now().getTime() + RETRY_MS).toISOString();
  const notes = Array.from(runIds)
    .slice(0, NOTED)
    .map((id) => ctx.redis.set(keyOf(id), until, { ex: KEPT_SECONDS, nx: true }));
  await Promise.all(notes).catch((failure: unknown) => {
    ctx.log.error("refused spans could not be noted", { detail: describeError(failure) });
  });
}

/**
 * Until when the spans of each of these runs that has a note may come again; a run whose time is over is left out. None
 * where the notes can't be read: what is scored is not made to wait for Redis.
 */
export async function spansAwaited(ctx: Context, runIds: readonly string[]): Promise<Map<string, string>> {
  if (runIds.length === 0) return new Map();
  const notes = await ctx.redis.mget<(string | null)[]>(runIds.map(keyOf)).catch((failure: unknown) => {
    ctx.log.warn("notes of refused spans could not be read", { detail: describeError(failure) });
    return [];
  });
  const now = ctx.now().getTime();
  const awaited = runIds.map((id, index) => [id, notes[index] ?? ""] as const);
  return new Map(awaited.filter(([, until]) => Date.parse(until) > now));
}
