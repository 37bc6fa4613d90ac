import { databaseFailure } from "../db/client.ts";
import { inSeries, writeSeries } from "../db/kept.ts";
import { storableJson } from "../db/storable-json.ts";
import type { Context } from "../platform/context.ts";
import { createGathering, type Gathering } from "../platform/gathering.ts";
import type { Message } from "../platform/message.ts";
import type { Turns } from "../platform/turns.ts";
import { CLAIM, Claimed, claiming, type Taken, taking } from "./claim.ts";
import { KEEP_ANSWERS, type KeptAnswer, Scorable } from "./keep-answer.ts";

/** What a delivery has to write between two calls: what came of one run, the next one to take up, or both. */
export interface Move {
  keeps: KeptAnswer | null;
  takes: string | null;
}

/** What came of a move. */
export interface Moved {
  /** Has the kept answer graded: it is owed, but not sent yet. Null where there is nothing to grade, or not yet. */
  scorable: Message | null;
  /** The run that was taken up; null where it could not be. */
  taken: Taken | null;
}

/** A move that waits to be written, and what came of it. */
interface Waiting {
  readonly move: Move;
  moved: Moved | null;
  failure: unknown;
}

/**
 * How many are made at once at most, and how long others wait for one who makes them. Their runs are minted and signed in a
 * row then, and an answer that comes meanwhile is read late by as much: with four, by a millisecond or two.
 */
const TOGETHER = { most: 4, holdMs: 15_000, linger: () => 0 };

/** The moves of each isolate, by its places for calls. */
const moves = new WeakMap<Turns, Gathering<Waiting>>();

function movesOf({ calls }: Context): Gathering<Waiting> {
  const known = moves.get(calls) ?? createGathering<Waiting>(TOGETHER);
  moves.set(calls, known);
  return known;
}

/** Answers up to here share a statement; a larger one has its own, so that no request to the database grows too large. */
const SHARED_CHARACTERS = 256 * 1024;

/**
 * Makes a move in one round trip, together with those that other deliveries of this isolate want to make by then, as
 * databases commit in groups: the busier the isolate, the fewer statements. A move that the database refuses fails alone.
 * Throws where the move can't be made; then nothing of it is, or, where the database did not answer, all of it may be.
 */
export async function carryOn(ctx: Context, move: Move): Promise<Moved> {
  const waiting: Waiting = { move, moved: null, failure: undefined };
  if (sizeOf(move) <= SHARED_CHARACTERS) await movesOf(ctx).join(waiting, (all) => makeAll(ctx, all));
  if (waiting.failure !== undefined) throw waiting.failure;
  // It is too large to share, or the request that made it with its own is gone.
  return waiting.moved ?? (await makeAlone(ctx, move));
}

async function makeAlone(ctx: Context, move: Move): Promise<Moved> {
  const [moved] = await make(ctx, [move]);
  return moved ?? { scorable: null, taken: null };
}

/**
 * Makes the moves together; where the database refuses that, each by itself, so that only those fail which it refuses then.
 * Never rejects.
 */
async function makeAll(ctx: Context, all: readonly Waiting[]): Promise<void> {
  try {
    const moved = await make(
      ctx,
      all.map(({ move }) => move),
    );
    for (const [index, waiting] of all.entries()) waiting.moved = moved[index] ?? null;
  } catch (error) {
    const isRefused = (databaseFailure(error)?.code ?? null) !== null;
    if (isRefused && all.length > 1) for (const one of all) await makeAll(ctx, [one]);
    else for (const one of all) one.failure = error;
  }
}

/** Keeps all answers, and then takes all runs up. */
export const CARRY_ON = inSeries("carry_on", [KEEP_ANSWERS, CLAIM]);

/** Writes all that is kept by one statement and all that is taken up by another, in one round trip. */
async function make(ctx: Context, all: readonly Move[]): Promise<Moved[]> {
  const keeps = all.flatMap((move) => move.keeps ?? []);
  const takings = all.map(({ takes }) => (takes === null ? null : taking(ctx, takes)));
  const takes = takings.filter((one) => one !== null);
  const moving = CARRY_ON.with([
    keeps.length === 0 ? null : { answers: storableJson(keeps) },
    takes.length === 0 ? null : claiming(ctx, takes),
  ]);
  const [scorable, claimed] = await writeSeries(ctx, moving, [Scorable, Claimed]);
  return all.map((move, index) => {
    const next = takings[index];
    const job = next && claimed?.[next.lease];
    return {
      scorable: (move.keeps && scorable?.[move.keeps.run]) ?? null,
      taken: next && job ? { ...next, claimed: job } : null,
    };
  });
}

function sizeOf({ keeps }: Move): number {
  return keeps === null ? 0 : keeps.request.length + (keeps.response?.length ?? 0) + (keeps.answer?.length ?? 0);
}
