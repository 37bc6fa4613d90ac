import type { Context } from "../platform/context.ts";
import { assess } from "./assess.ts";
import { finalise } from "./finalise.ts";
import { loadAnswered } from "./load.ts";
import { signRun } from "./sign.ts";

/** Grades, prices and signs an answered run and ends it: one statement and one batch. A second time it does nothing. */
export async function scoreRun(ctx: Context, runId: string): Promise<void> {
  const answered = await loadAnswered(ctx, runId);
  if (answered === null) return;
  const at = ctx.now();
  const assessment = assess(answered);
  const signed = await signRun(ctx, answered, assessment, at);
  await finalise(ctx, answered, assessment, signed, at);
}
