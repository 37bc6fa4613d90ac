import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { idsOf } from "../db/ids.ts";
import { writeBothKept, writeKept } from "../db/kept.ts";
import { runs } from "../db/schema/index.ts";
import { requestBytes } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { Message } from "../platform/message.ts";
import { callAgent } from "./call.ts";
import { type Claim, claim, Claimed, prepare, type Taken, taking } from "./claim.ts";
import { type Exchanged, keeping } from "./keep-answer.ts";
import { oweDispatchAgain } from "./messages.ts";
import { protocolOf } from "./protocols/index.ts";
import { scoreSoon } from "./score.ts";
import { simulate } from "./simulate.ts";

/**
 * How long one delivery goes on to take up further runs, in milliseconds. After that, each that is left gets a delivery of its
 * own: the calls to a slow agent are then spread over all that may be made at once, and one delivery stays short.
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
  let scorable: Message | null = null;
  const score = (): void => {
    const owed = scorable;
    scorable = null;
    if (owed !== null) ctx.defer(() => scoreSoon(ctx, owed));
  };
  const leave = await ctx.calls.take();
  try {
    const end = ctx.now().getTime() + GOES_ON_MS;
    let taken = await claim(ctx, left);
    while (taken !== null) {
      score();
      const carried = await carryOut(ctx, taken).catch((error: unknown) => {
        faults.push(error);
        return null;
      });
      const goesOn = ctx.now().getTime() < end;
      const kept = carried === null ? null : await keep(ctx, carried, goesOn ? left.shift() : undefined);
      scorable = kept?.scorable ?? null;
      taken = kept?.next ?? (goesOn ? await claim(ctx, left) : null);
    }
  } finally {
    leave();
    // The last one only now: scoring waits a moment for the runs that are being carried out, and this one is not any more.
    score();
  }
  if (left.length > 0) await handOn(ctx, left);
  if (faults.length > 0) throw faults[0];
}

/** A run whose agent was called, and what came of it. */
interface Carried {
  claim: Claim;
  exchanged: Exchanged;
}

async function carryOut(ctx: Context, taken: Taken): Promise<Carried> {
  try {
    const prepared = prepare(ctx, taken);
    const { job, deadline, callbackToken } = prepared;
    const protocol = protocolOf(job.agent.agent_protocol);
    const request = protocol.request(job, {
      deadline: deadline.toISOString(),
      url: `${ctx.env.BASE_URL}/api/v1/runs/${job.run.id}`,
      token: callbackToken,
    });
    const outcome = job.run.simulated
      ? simulate(job)
      : await callAgent(ctx, job, protocol, JSON.stringify(request), deadline);
    return { claim: prepared, exchanged: { request: requestBytes(request), outcome } };
  } catch (error) {
    ctx.log.error("a run could not be carried out", { run_id: taken.runId, detail: describeError(error) });
    throw error;
  }
}

/** Keeps what came of a run and, in the same round trip, takes up the next one, if one is named and can be. */
async function keep(
  ctx: Context,
  { claim: held, exchanged }: Carried,
  nextId: string | undefined,
): Promise<{ scorable: Message | null; next: Taken | null }> {
  const keeps = keeping(ctx, held, exchanged);
  if (nextId === undefined) return { scorable: await writeKept(ctx, [keeps], Message), next: null };
  const next = taking(ctx, nextId);
  const [scorable, claimed] = await writeBothKept(ctx, [keeps, next.statement], [Message, Claimed]);
  return { scorable, next: claimed === null ? null : { ...next, claimed } };
}

/** Gives each of these runs that is still queued a delivery of its own. */
async function handOn(ctx: Context, runIds: readonly string[]): Promise<void> {
  await write(ctx, {
    parts: sql`with waiting as (
      select r.id, r.attempt, r.agent_id from ${runs} r
      where r.id in (${idsOf(runIds)}) and r.status = 'queued'
    ), dispatches as (${oweDispatchAgain("waiting")})`,
    owes: ["dispatches"],
    select: sql`select to_jsonb(count(*)) from waiting`,
    result: z.number(),
  });
}
