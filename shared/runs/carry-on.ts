import * as z from "zod";
import { inSeries, writeSeries } from "../db/kept.ts";
import { storableJson } from "../db/storable-json.ts";
import { createTogether } from "../db/together.ts";
import type { Context } from "../platform/context.ts";
import type { Message } from "../platform/message.ts";
import { CLAIM, Claimed, ClaimedJob, claiming, type Taken, type Taking, taking } from "./claim.ts";
import { KEEP_ANSWERS, type KeptAnswer, LOCK_CALLED, Scorable } from "./keep-answer.ts";

/** What a delivery has to write between two calls: what came of one run, the next one to take up, or both. */
export interface Move {
  keeps: KeptAnswer | null;
  takes: string | null;
}

/** What came of a move. */
export interface Moved {
  /** Has the kept answer graded: it is owed, but not sent yet. Null where there is nothing to grade, or not yet. */
  scorable: Message | null;
  /** The run that was taken up; null where it could not be, or can't be read by this version: then its lease runs out. */
  taken: Taken | null;
  /** Whether it was not taken up since its agent can't be called any more. */
  isUncallable: boolean;
}

/** What the database gave for a move. */
interface Made {
  scorable: Message | null;
  found: { next: Taking; job: unknown } | null;
}

/** How many are made at once at most: what comes of them is read in a row, and an agent's answer meanwhile late by as much. */
const MOST = 4;

/** Answers up to here share a statement. */
const SHARED_CHARACTERS = 256 * 1024;

/** Keeps all answers, and then takes all runs up. */
export const CARRY_ON = inSeries("carry_on", [LOCK_CALLED, KEEP_ANSWERS, CLAIM]);

const moves = createTogether({
  most: MOST,
  isLarge: (move: Move) => sizeOf(move) > SHARED_CHARACTERS,
  write: make,
});

/**
 * Makes a move in one round trip, together with those that other deliveries of this isolate want to make by then. Throws
 * where the move can't be made; then nothing of it is, or, where the database did not answer, all of it may be.
 */
export async function carryOn(ctx: Context, move: Move): Promise<Moved> {
  const { scorable, found } = await moves.write(ctx, move);
  const isUncallable = found !== null && found.job === null;
  const job = found === null || isUncallable ? null : ClaimedJob.safeParse(found.job);
  if (job?.success === false)
    ctx.log.error("a run can't be read", { run_id: found?.next.runId, detail: z.prettifyError(job.error) });
  const taken = found !== null && job?.success === true ? { ...found.next, claimed: job.data } : null;
  return { scorable, taken, isUncallable };
}

/** Writes all that is kept by one statement and all that is taken up by another, in one round trip. */
async function make(ctx: Context, all: readonly Move[]): Promise<Made[]> {
  const keeps = all.flatMap((move) => move.keeps ?? []);
  const takings = all.map(({ takes }) => (takes === null ? null : taking(ctx, takes)));
  const takes = takings.filter((one) => one !== null);
  const moving = CARRY_ON.with([
    keeps.length === 0 ? null : { runs: JSON.stringify(keeps.map(({ run }) => run)) },
    keeps.length === 0 ? null : { answers: storableJson(keeps) },
    takes.length === 0 ? null : claiming(ctx, takes),
  ]);
  const [, scorable, claimed] = await writeSeries(ctx, moving, [z.int(), Scorable, Claimed]);
  return all.map((move, index) => {
    const next = takings[index];
    const job = next && claimed?.[next.lease];
    return {
      scorable: (move.keeps && scorable?.[move.keeps.run]) ?? null,
      found: next && job !== undefined ? { next, job } : null,
    };
  });
}

function sizeOf({ keeps }: Move): number {
  return keeps === null ? 0 : keeps.request.length + (keeps.response?.length ?? 0) + (keeps.answer?.length ?? 0);
}
