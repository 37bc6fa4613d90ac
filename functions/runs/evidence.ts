import * as z from "zod";
import { verifyInForce } from "../../shared/certification/verify.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const Verification = z
  .object({
    valid: z.boolean(),
    reason: z.string().optional().meta({ description: "Why it is not valid" }),
    statement: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: "EvidenceVerification" });

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
];
