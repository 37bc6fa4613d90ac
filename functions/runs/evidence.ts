import * as z from "zod";
import { verifyInForce } from "../../shared/certification/verify.ts";
import { jwks } from "../../shared/evidence/did.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { bodyProblem } from "../../shared/platform/problem.ts";
import { Regraded, RegradeRequest, UNREGRADABLE } from "../../shared/runs/regrading.ts";

const Verification = z
  .object({
    valid: z.boolean(),
    reason: z.string().optional().meta({ description: "Why it is not valid" }),
    statement: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: "EvidenceVerification" });

/** A body of a response of 1 MiB in base64, with a statement beside it. */
const MAX_REGRADE_BYTES = 1.5 * 1024 * 1024;

export const evidence = [
  route({
    id: "verifyEvidence",
    method: "post",
    path: "/api/v1/evidence/verify",
    tag: "Evidence",
    summary: "Check a signed statement",
    description:
      "The same check that anybody can make offline with the keys at /.well-known/jwks.json; a certification's credential " +
      "must also be neither expired nor revoked.",
    auth: "open",
    body: z.strictObject({ jws: z.string().max(65_536) }).meta({ id: "EvidenceVerifyRequest" }),
    returns: { 200: Verification },
    async handler({ ctx, body }) {
      return ok(await verifyInForce(ctx, body.jws));
    },
  }),
  route({
    id: "regradeEvidence",
    method: "post",
    path: "/api/v1/evidence/regrade",
    tag: "Evidence",
    summary: "Grade a run again",
    description:
      "For anybody, once the epoch of a run of a minted task is revealed: `epoch_secret` from GET /api/v1/epochs, where its " +
      "commitment stands, too; `response_base64` and `response_salt` are `response` of GET /api/v1/runs/{run_id}/output. The " +
      "instance is drawn again, the statement's commitments to instance and answer are opened, and the answer is graded as " +
      "it was then. Nothing is looked up, so the same can be done offline. A failed run has nothing to grade: 0, not " +
      "passed. Why a statement is not valid is told by POST /api/v1/evidence/verify.",
    auth: "open",
    limit: "write",
    body: RegradeRequest,
    accepts: { types: [], maxBytes: MAX_REGRADE_BYTES },
    returns: { 200: Regraded },
    problems: ["not_regradable"],
    async handler({ ctx, body }) {
      // With it come all templates and graders, which nothing else here needs.
      const { regrade } = await import("../../shared/runs/regrade.ts");
      const regrading = await regrade(body, jwks(ctx.env.BASE_URL, await ctx.keys()).keys);
      if (regrading.status === "refused") throw bodyProblem("not_regradable", "/jws", UNREGRADABLE[regrading.reason]);
      return ok(regrading.result);
    },
  }),
];
