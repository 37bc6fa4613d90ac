import { sql } from "drizzle-orm";
import { run_evidence, runs } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { jwks } from "../evidence/did.ts";
import { type Verification, verifyStatement } from "../evidence/verify.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { runsWithAgents, visibleRun } from "../runs/view.ts";

/**
 * The signed statement of a run that the caller may see; throws 404 where there is none. That of a counted run of a public
 * agent is anybody's for good: published scores stay verifiable once the agent, its workspace or its owner's account is
 * deleted, and the run itself is not shown any more.
 */
export async function readEvidence(
  ctx: Context,
  principal: Principal,
  runId: string,
): Promise<{ jws: string; kid: string }> {
  const viewer = viewerId(principal);
  const row = await readJson<{ jws: string; kid: string }>(
    ctx,
    sql`select jsonb_build_object('jws', e.jws, 'kid', e.kid) as result
      from ${runsWithAgents(sql`${runs}`)} join ${run_evidence} e on e.run_id = r.id
      where r.id = ${runId}::uuid and ((r.counted and a.is_public) or ${visibleRun(viewer)})`,
  );
  if (row === null) throw notFound("evidence for this run");
  return row;
}

/** Verifies a statement against the service's own keys, as anybody can offline. */
export async function verify(ctx: Context, jws: string): Promise<Verification> {
  const { keys } = jwks(ctx.env.BASE_URL, await ctx.keys());
  return verifyStatement(jws, keys);
}
