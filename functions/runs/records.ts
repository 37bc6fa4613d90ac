import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { readOutput, readPhases } from "../../shared/results/reads.ts";
import { readSpans, RunSpans } from "../../shared/results/spans.ts";
import { RunOutput, RunPhases } from "../../shared/runs/records-shown.ts";

const tag = "Runs";
const params = z.object({ run_id: z.uuid() });

/** What is kept of a run: its facts, what its agent told of it, and what went over the wire. */
export const runRecords = [
  route({
    id: "readRunPhases",
    method: "get",
    path: "/api/v1/runs/{run_id}/phases",
    tag,
    summary: "What happened in a run, fact by fact",
    auth: "open",
    subject: "runs",
    params,
    returns: { 200: RunPhases },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { run_id } }) {
      return ok(await readPhases(ctx, principal, run_id));
    },
  }),
  route({
    id: "readRunSpans",
    method: "get",
    path: "/api/v1/runs/{run_id}/spans",
    tag,
    summary: "The spans of a run, for owner and members",
    description:
      "What the agent's telemetry told of the run, at most 2,000 spans, in the order in which they began. They are kept 30 " +
      "days; messages, arguments and results are never kept.",
    auth: "read",
    subject: "runs",
    params,
    returns: { 200: RunSpans },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { run_id } }) {
      return ok(await readSpans(ctx, principal, run_id));
    },
  }),
  route({
    id: "readRunOutput",
    method: "get",
    path: "/api/v1/runs/{run_id}/output",
    tag,
    summary: "What went over the wire, for owner and members, or published",
    description:
      "Bytes and salts of both commitments in the evidence: SHA-256 over salt and bytes gives the digest that was signed. " +
      "Whole numbers beyond 2^53 are graded as the bytes have them; in `output` they are rounded. Of a minted task also " +
      "what was asked, and what would have been right, once `canary` is not null.\n\n" +
      "Everybody is shown it of a counted run of a minted task that is not secret, which was submitted while its agent's " +
      "`publish_answers` was set, once its epoch is revealed. This stays so until agent or account is deleted; " +
      "the runs of a private agent are shown to nobody else.",
    auth: "open",
    subject: "runs",
    params,
    returns: { 200: RunOutput },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { run_id } }) {
      return ok(await readOutput(ctx, principal, run_id));
    },
  }),
];
