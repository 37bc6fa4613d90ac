import * as z from "zod";
import { route } from "../../shared/http/route.ts";
import { readEvidence } from "../../shared/results/evidence.ts";
import { PROOF_TYPE, signedStatement, STATEMENT_TYPE, statementQuery, statementReply } from "./statement.ts";

const params = z.object({ run_id: z.uuid() });

const RunEvidence = signedStatement.meta({ id: "RunEvidence" });

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
    query: statementQuery,
    returns: { 200: RunEvidence },
    mediaTypes: [STATEMENT_TYPE, PROOF_TYPE],
    problems: ["not_found"],
    async handler({ ctx, principal, params: { run_id }, query, c }) {
      return statementReply(ctx, c, await readEvidence(ctx, principal, run_id), query);
    },
  }),
];
