import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { idsOf } from "../db/ids.ts";
import { runs } from "../db/schema/index.ts";
import { requestBytes } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import type { Message } from "../platform/message.ts";
import { callAgent, openLine } from "./call.ts";
import { carryOn } from "./carry-on.ts";
import { prepare, type Taken } from "./claim.ts";
import { type KeptAnswer, keeping } from "./keep-answer.ts";
import { oweDispatchAgain } from "./messages.ts";
import { protocolOf } from "./protocols/index.ts";
import { scoreSoon } from "./score.ts";
import { simulate } from "./simulate.ts";
import { endUncallable } from "./uncallable.ts";

/**
 * How long one delivery goes on to take up further runs, in milliseconds. After that, or where it has lost its place to
 * others, each that is left gets a delivery of its own: the calls to a slow agent are then spread over all that may be made at
 * once, and one delivery stays short.
 */
const GOES_ON_MS = 1000;

/**
 * Carries queued runs of one agent out, one after the other: takes each up once this isolate has a place, calls the agent,
 * keeps what came, and has it scored meanwhile. The answer of one is kept in the round trip that takes up the next. Coming
 * a second time it does nothing. A fault of ours in the middle of a run throws once the others are done, and the run is
 * taken up again when its lease has expired.
 */
export async function dispatch(ctx: Context, runIds: readonly string[]): Promise<void> {
  const left = [...runIds];
  const faults: unknown[] = [];
  const uncallable: string[] = [];
  let scorable: Message | null = null;
  const score = (): void => {
    const owed = scorable;
    scorable = null;
    if (owed !== null) ctx.defer(() => scoreSoon(ctx, owed));
  };
  const place = await ctx.calls.take();
  try {
    const end = ctx.now().getTime() + GOES_ON_MS;
    let taken = await claim(ctx, left, uncallable);
    while (taken !== null) {
      score();
      const carried = await carryOut(ctx, taken).catch((error: unknown) => {
        faults.push(error);
        return null;
      });
      const goesOn = ctx.now().getTime() < end && place.keep();
      const takes = carried === null || !goesOn ? null : (left.shift() ?? null);
      const moved = carried === null ? null : await carryOn(ctx, { keeps: carried, takes });
      if (takes !== null && moved?.isUncallable === true) uncallable.push(takes);
      scorable = moved?.scorable ?? null;
      taken = moved?.taken ?? (goesOn ? await claim(ctx, left, uncallable) : null);
    }
  } finally {
    place.leave();
    // The last one only now: scoring waits a moment for the runs that are being carried out, and this one is not any more.
    score();
  }
  if (uncallable.length > 0) await endUncallable(ctx, uncallable);
  // Among those that can't be called are some that can by now, if their agent came back just then.
  const queued = [...left, ...uncallable];
  if (queued.length > 0) await handOn(ctx, queued);
  if (faults.length > 0) throw faults[0];
}

/** Mints what the run asks, calls the agent, and returns what there is to be kept of that. */
async function carryOut(ctx: Context, taken: Taken): Promise<KeptAnswer> {
  try {
    await ctx.steps.next();
    const prepared = prepare(ctx, taken);
    const { job, callbackToken } = prepared;
    const protocol = protocolOf(job.agent.agent_protocol);
    const line = job.run.simulated ? null : await openLine(ctx, job);
    // Its time begins only now: what we did until here, and how long that took, is nothing to the agent.
    const begun = ctx.now();
    const request = protocol.request(job, {
      deadline: new Date(begun.getTime() + job.task.time_limit_ms).toISOString(),
      url: `${ctx.env.BASE_URL}/api/v1/runs/${job.run.id}`,
      token: callbackToken,
    });
    const called =
      line === null
        ? { outcome: simulate(job), sentAt: begun }
        : await callAgent(ctx, job, protocol, JSON.stringify(request), line);
    return keeping(ctx, prepared, { request: requestBytes(request), ...called });
  } catch (error) {
    ctx.log.error("a run could not be carried out", { run_id: taken.runId, detail: describeError(error) });
    throw error;
  }
}

/**
 * Takes up the first of these runs that can be, and takes all that it looked at off the list; adds those to `uncallable`
 * whose agent can't be called any more.
 */
async function claim(ctx: Context, left: string[], uncallable: string[]): Promise<Taken | null> {
  for (let takes = left.shift(); takes !== undefined; takes = left.shift()) {
    const { taken, isUncallable } = await carryOn(ctx, { keeps: null, takes });
    if (taken !== null) return taken;
    if (isUncallable) uncallable.push(takes);
  }
  return null;
}

/** Gives each of these runs that is still queued a delivery of its own. */
async function handOn(ctx: Context, runIds: readonly string[]): Promise<void> {
  await write(ctx, {
    parts: sql`with waiting as (
      select r.id, r.agent_id from ${runs} r
      where r.id in (${idsOf(runIds)}) and r.status = 'queued'
    ), dispatches as (${oweDispatchAgain("waiting")})`,
    owes: ["dispatches"],
    select: sql`select to_jsonb(count(*)) from waiting`,
    result: z.number(),
  });
}
