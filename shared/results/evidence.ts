import { Buffer } from "node:buffer";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { run_evidence, runs } from "../db/schema/index.ts";
import { jwks } from "../evidence/did.ts";
import { type Verification, verifyStatement } from "../evidence/verify.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { Found, findEntry, type Inclusion, inclusionOf } from "../transparency/inclusion.ts";
import { sha256Hex } from "../transparency/logged.ts";
import { publicForGood, runsWithAgents, visibleRun } from "../runs/view.ts";

/** A signed statement, and what the database knows of its place in the log. */
export const LoggedStatement = z.object({ jws: z.string(), kid: z.string(), found: Found.nullable() });
export type LoggedStatement = z.output<typeof LoggedStatement>;

/**
 * The signed statement of a run that the caller may see; throws 404 where there is none. One that was public stays open to
 * everybody: published scores can still be verified once the agent is hidden, or the agent, its workspace or its owner's
 * account is deleted, and the run itself is no longer shown.
 */
export async function readEvidence(ctx: Context, principal: Principal, runId: string): Promise<LoggedStatement> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    LoggedStatement,
    sql`select jsonb_build_object('jws', e.jws, 'kid', e.kid,
        'found', ${findEntry("run", { sha256: sha256Hex(sql`e.jws`) })}) as result
      from ${runsWithAgents(sql`${runs}`)} join ${run_evidence} e on e.run_id = r.id
      where r.id = ${runId}::uuid and (${publicForGood} or ${visibleRun(viewer)})`,
  );
  if (row === null) throw notFound("evidence for this run");
  return row;
}

/**
 * The place of a statement in the log, with the proof; null until it has one, within about a minute. `selfContained` puts
 * the statement itself into the proof's text.
 */
export async function inclusionOfStatement(
  ctx: Context,
  { jws, found }: LoggedStatement,
  selfContained: boolean,
): Promise<Inclusion | null> {
  return found === null ? null : inclusionOf(ctx, found, selfContained ? Buffer.from(jws, "utf8") : undefined);
}

/** Verifies a statement against the service's own keys, as anybody can offline. */
export async function verify(ctx: Context, jws: string): Promise<Verification> {
  const { keys } = jwks(ctx.env.BASE_URL, await ctx.keys());
  return verifyStatement(jws, keys);
}
