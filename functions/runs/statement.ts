import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { preferred } from "../../shared/http/accept.ts";
import { ok, type Reply, verbatim } from "../../shared/http/reply.ts";
import type { Context } from "../../shared/platform/context.ts";
import { Problem } from "../../shared/platform/problem.ts";
import type { LoggedStatement } from "../../shared/results/evidence.ts";

/** The media type of a signed statement: a verifiable credential secured as a JWT. */
export const STATEMENT_TYPE = "application/vc+jwt";

/** The media type of a proof that a log has an entry. */
export const PROOF_TYPE = "application/vnd.c2sp.tlog-proof";

/** What an endpoint answers about a signed statement, besides the statement itself. */
export const signedStatement = z.object({
  jws: z.string(),
  statement: z.record(z.string(), z.json()),
  kid: z.string(),
  verified: z.boolean(),
  log: z
    .object({
      index: z.int().meta({ description: "Its place in the log, from 0" }),
      proof: z.string().meta({ description: "C2SP tlog-proof: shows offline, by /log/key, that the log has it" }),
    })
    .nullable()
    .meta({ description: "Null until the log has the statement, within about a minute" }),
});

/** The query of an endpoint that answers with a signed statement. */
export const statementQuery = z.object({
  format: z.enum(["tlog-proof"]).optional().meta({ description: "In place of `Accept`" }),
});

/**
 * Answers with a signed statement: decoded, with its place in the log, or if the request asks for that, as the compact JWS
 * alone, or as the proof that the log has it. Throws 404 for a proof that there is not yet.
 */
export async function statementReply(
  ctx: Context,
  c: HonoContext,
  logged: LoggedStatement,
  { format }: z.output<typeof statementQuery>,
): Promise<Reply> {
  const headers = { Vary: "Accept, Authorization, Cookie" };
  const { jws, kid } = logged;
  const type = format === undefined ? preferred(c, ["application/json", PROOF_TYPE, STATEMENT_TYPE]) : PROOF_TYPE;
  if (type === STATEMENT_TYPE) return verbatim(jws, STATEMENT_TYPE, headers);
  const { inclusionOfStatement, verify } = await import("../../shared/results/evidence.ts");
  const log = await inclusionOfStatement(ctx, logged, type === PROOF_TYPE);
  if (type === PROOF_TYPE) {
    if (log === null) throw new Problem("not_found", "The log does not have it yet; ask again in a minute.");
    return verbatim(log.proof, PROOF_TYPE, headers);
  }
  const verification = await verify(ctx, jws);
  const statement = verification.valid ? verification.statement : {};
  return ok({ jws, kid, statement, verified: verification.valid, log }, headers);
}
