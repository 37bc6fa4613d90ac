import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { hand } from "../db/outbox.ts";
import { DRAWN } from "../db/owed.ts";
import { runs as runTable } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { Message } from "../platform/message.ts";
import { spansAwaited } from "../telemetry/refused-spans.ts";
import { assess } from "./assess.ts";
import { type Ended, finalise } from "./finalise.ts";
import { type Answered, loadAnswered, withAnswer } from "./load-answered.ts";
import { oweScore } from "./messages.ts";
import { observe } from "./observe.ts";
import { signRun } from "./sign.ts";

/** How often a run is placed anew because another one minted a version meanwhile; then it is placed by what it knows. */
const PLACINGS = 3;

/**
 * Scores the run of an owed message without the queue, together with others whose answers were kept meanwhile. Where that
 * fails, each goes through the queue, on its own; where this isolate is gone, the sweeper finds the messages.
 */
export function scoreSoon(ctx: Context, owed: Message): Promise<void> {
  return ctx.scoring.join(owed, async (messages) => {
    try {
      await scoreRuns(
        ctx,
        messages.map(({ id }) => id),
      );
    } catch (error) {
      ctx.log.warn("scoring failed; handed to the queue", { runs: messages.length, detail: describeError(error) });
      await hand(ctx, messages);
    }
  });
}

/**
 * Scores a run by its message. One that shows no spans, and of whose spans the database could not take an export a moment
 * ago, is scored once its exporter had time to send them again.
 */
export async function scoreOwed(ctx: Context, runId: string): Promise<void> {
  await scoreRuns(ctx, [runId], withoutAwaited);
}

async function withoutAwaited(ctx: Context, answered: readonly Answered[]): Promise<readonly Answered[]> {
  const bare = answered.filter(({ telemetry }) => telemetry.spans.length === 0).map(({ run }) => run.id);
  const awaited = await spansAwaited(ctx, bare);
  if (awaited.size === 0) return answered;
  await write(ctx, {
    parts: sql`with scores as (${oweScore(
      sql`select r.id, ${DRAWN} as attempt, (w.value #>> '{}')::timestamptz as not_before
        from jsonb_each(${JSON.stringify(Object.fromEntries(awaited))}::jsonb) w join ${runTable} r on r.id = w.key::uuid
        where r.status = 'running'`,
    )})`,
    hands: ["scores"],
    select: sql`select to_jsonb(count(*)) from scores`,
    result: z.int(),
  });
  return answered.filter(({ run }) => !awaited.has(run.id));
}

/**
 * Grades, prices and signs answered runs and ends them: one statement, one more for each long answer, and one batch for all that
 * show no architecture, one for each other. Those in any other state are left as they are, so that a second time it does nothing.
 */
export async function scoreRuns(
  ctx: Context,
  runIds: readonly string[],
  choose: (ctx: Context, answered: readonly Answered[]) => Promise<readonly Answered[]> = async (_ctx, all) => all,
): Promise<void> {
  let left = runIds;
  for (let placing = 1; placing <= PLACINGS && left.length > 0; placing += 1) {
    const answered = await choose(ctx, await loadAnswered(ctx, left));
    // Another machine's clock said when they began.
    const at = new Date(Math.max(+ctx.now(), ...answered.map(({ run }) => Date.parse(run.started_at))));
    const ended: Ended[] = [];
    for (const run of answered) {
      await ctx.steps.next();
      const whole = await withAnswer(ctx, run);
      if (whole === null) continue;
      const observed = observe(run);
      const assessment = assess(whole, observed);
      const signed = await signRun(ctx, run, assessment, observed.architectureHash, at);
      ended.push({ answered: run, assessment, observed, signed });
    }
    const [placed, others] = [ended.filter(isPlaced), ended.filter((one) => !isPlaced(one))];
    if (others.length > 0) await finalise(ctx, others, at, false);
    left = [];
    for (const one of placed) {
      const done = await finalise(ctx, [one], at, placing < PLACINGS);
      if (!done) left = [...left, one.answered.run.id];
    }
  }
}

function isPlaced({ observed }: Ended): boolean {
  return observed.placement !== null;
}
