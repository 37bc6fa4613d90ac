import * as z from "zod";
import { preferred } from "../../shared/http/accept.ts";
import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { inclusionOfStatement, readEvidence } from "../../shared/results/evidence.ts";
import { PROOF_TYPE, signedStatement, STATEMENT_TYPE, statementReply } from "./statement.ts";

const params = z.object({ run_id: z.uuid() });

const RunEvidence = signedStatement
  .extend({
    log: z
      .object({
        index: z.int().meta({ description: "Its place in the log, from 0" }),
        proof: z.string().meta({ description: "C2SP tlog-proof: shows offline, by /log/key, that the log has it" }),
      })
      .nullable()
      .meta({ description: "Null until the log has the statement, within about a minute" }),
  })
  .meta({ id: "RunEvidence" });

export const runEvidence = [
  route({
    id: "readRunEvidence",
    method: "get",
    path: "/api/v1/runs/{run_id}/evidence",
    tag: "Runs",
    summary: "The signed statement of a run",
    description:
      "With `Accept: application/vc+jwt` the compact JWS alone. Simulated runs, trials and canaries have none, and none is " +
      "given out while the run's `canary` is null. The statement of a " +
      "counted run of a public agent stays here for good, also once the agent is made private, or it or its owner's account " +
      "is deleted. Runs that count while their agent is private are shown to nobody else.\n\n" +
      "With `format=tlog-proof`, or `Accept: application/vnd.c2sp.tlog-proof`, the proof that the log has it, alone: its line " +
      "`extra` is the JWS in base64, and the log's entry is the RFC 8785 JSON of `kind` (`run`) and `sha256`, the JWS's.",
    auth: "open",
    subject: "runs",
    params,
    query: z.object({ format: z.enum(["tlog-proof"]).optional().meta({ description: "In place of `Accept`" }) }),
    returns: { 200: RunEvidence },
    mediaTypes: [STATEMENT_TYPE, PROOF_TYPE],
    problems: ["not_found"],
    async handler({ ctx, principal, params: { run_id }, query: { format }, c }) {
      const statement = await readEvidence(ctx, principal, run_id);
      if (format === "tlog-proof" || preferred(c, ["application/json", PROOF_TYPE, STATEMENT_TYPE]) === PROOF_TYPE) {
        const proof = await inclusionOfStatement(ctx, statement, true);
        if (proof === null) throw new Problem("not_found", "The log does not have it yet; ask again in a minute.");
        return verbatim(proof.proof, PROOF_TYPE, { Vary: "Accept, Authorization, Cookie" });
      }
      return statementReply(ctx, c, statement, async () => ({
        log: await inclusionOfStatement(ctx, statement, false),
      }));
    },
  }),
];
