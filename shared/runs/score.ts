import type { Context } from "../platform/context.ts";
import { assess } from "./assess.ts";
import { finalise } from "./finalise.ts";
import { loadAnswered } from "./load-answered.ts";
import { observe } from "./observe.ts";
import { signRun } from "./sign.ts";

/** How often a run is placed anew because another one minted a version meanwhile; then it is placed by what it knows. */
const PLACINGS = 3;

/** Grades, prices and signs an answered run and ends it: one statement and one batch. A second time it does nothing. */
export async function scoreRun(ctx: Context, runId: string): Promise<void> {
  for (let placing = 1; placing <= PLACINGS; placing += 1) {
    const answered = await loadAnswered(ctx, runId);
    if (answered === null) return;
    const at = ctx.now();
    const observed = observe(answered);
    const assessment = assess(answered, observed);
    const signed = await signRun(ctx, answered, assessment, observed.architectureHash, at);
    const result = { assessment, observed, signed, at };
    if (await finalise(ctx, answered, result, placing < PLACINGS)) return;
  }
}
