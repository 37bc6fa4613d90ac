import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { preferred } from "../../shared/http/accept.ts";
import { ok, type Reply, verbatim } from "../../shared/http/reply.ts";
import type { Context } from "../../shared/platform/context.ts";

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
});

/** Answers with a signed statement: decoded, with what `more` adds, or as the compact JWS alone if the request asks for that. */
export async function statementReply(
  ctx: Context,
  c: HonoContext,
  { jws, kid }: { jws: string; kid: string },
  more: () => Promise<object> = async () => ({}),
): Promise<Reply> {
  const headers = { Vary: "Accept, Authorization, Cookie" };
  if (preferred(c, ["application/json", STATEMENT_TYPE]) === STATEMENT_TYPE) {
    return verbatim(jws, STATEMENT_TYPE, headers);
  }
  const { verify } = await import("../../shared/results/evidence.ts");
  const verification = await verify(ctx, jws);
  const statement = verification.valid ? verification.statement : {};
  return ok({ jws, kid, statement, verified: verification.valid, ...(await more()) }, headers);
}
