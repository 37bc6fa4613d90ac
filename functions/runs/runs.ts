import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { assertScope, bearerToken, type OwnTokens } from "../../shared/http/credentials.ts";
import { cursorQuery, sliced, sliceOf } from "../../shared/http/cursor.ts";
import { longPageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { accepted, ok, verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Principal } from "../../shared/identity/principal.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { CALLBACK_TOKEN_PREFIX, isCallbackTokenOf } from "../../shared/runs/callback-token.ts";
import { estimateQuery } from "../../shared/runs/estimate.ts";
import { readPreflight } from "../../shared/runs/preflight.ts";
import { listRuns, RunKey, sliceRuns } from "../../shared/results/list.ts";
import { runFilter, runSort } from "../../shared/results/run-filter.ts";
import { readRun } from "../../shared/results/reads.ts";
import type { Reporter } from "../../shared/runs/report.ts";
import { assertCancelRight } from "../../shared/runs/cancel-right.ts";
import { BatchCreate, RunCreate, RunCreateRead, RunUpdate, ScreeningPreflightRead } from "../../shared/runs/schemas.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import type { Submission } from "../../shared/runs/submission.ts";
import { PROOF_TYPE, signedStatement, STATEMENT_TYPE, statementReply } from "./statement.ts";

const tag = "Runs";
const params = z.object({ run_id: z.uuid() });
const REFUSALS = [
  "not_found",
  "forbidden",
  "agent_inactive",
  "provider_custody_retired",
  "task_unavailable",
  "quota_exceeded",
] as const;

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

/** What reads of runs need nothing of: it comes with the first request to submit some, to report on one, or to cancel one. */
const submitting = () => import("../../shared/runs/submit.ts");
const reporting = () => import("../../shared/runs/report.ts");
const cancelling = () => import("../../shared/runs/cancel.ts");

function tasksOf({ suite_id, task_ids }: z.output<typeof BatchCreate>): Submission["tasks"] {
  if (suite_id !== undefined) return { kind: "suite", suiteId: suite_id };
  return task_ids === undefined || task_ids.length === 0 ? { kind: "catalogue" } : { kind: "exact", taskIds: task_ids };
}

/** A host of many agents reports on all their runs from one address, so a report counts as its run's. */
const callbackTokens: OwnTokens = {
  are: (token) => token.startsWith(CALLBACK_TOKEN_PREFIX),
  isOurs: (ctx, c, token) => isCallbackTokenOf(ctx.env, c.req.param("run_id") ?? "", token),
};

/** Who reports on a run; throws `unauthenticated` without any credential, `insufficient_scope` for a key without `runs:write`. */
function reporterOf(c: HonoContext, principal: Principal): Reporter {
  const token = bearerToken(c);
  if (token?.startsWith(CALLBACK_TOKEN_PREFIX)) return { kind: "token", token };
  if (principal.kind === "anonymous") {
    throw new Problem(
      "unauthenticated",
      "Send the run's callback token as Authorization: Bearer, or sign in as the owner.",
    );
  }
  assertScope(principal, "runs:write");
  return { kind: "user", userId: principal.userId };
}

export const runs = [
  route({
    id: "createRun",
    method: "post",
    path: "/api/v1/runs",
    tag,
    summary: "Run one task",
    description:
      "The run is queued and carried out asynchronously; it takes one run of the monthly allowance. Strangers, signed in " +
      "or not, may run an agent whose owner set `allow_trial`; such a trial counts for no score. Without an account 5 a " +
      "day from an address, 200 a day in all.",
    auth: "open",
    subject: "runs",
    limit: "write",
    body: RunCreate,
    returns: { 202: RunCreateRead },
    problems: [...REFUSALS, "trial_not_allowed", "insufficient_scope"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      assertScope(principal, "runs:write");
      const { submit } = await submitting();
      const [run] = await submit(ctx, principal, {
        agentId: body.agent_id,
        tasks: { kind: "one", taskId: body.task_id },
        repeats: 1,
        isPrivate: body.private,
      });
      return accepted(run, `/api/v1/runs/${run?.id}`);
    },
  }),
  route({
    id: "createBatch",
    method: "post",
    path: "/api/v1/runs/batch",
    tag,
    summary: "Run many tasks, each several times",
    description:
      "All or nothing: tasks × repeats runs are reserved at once. With `suite_id` the active tasks of that public suite, " +
      "with `task_ids` exactly these, with neither the first 100 of the catalogue. The runs come in task order, then by " +
      "repeat; their `screening_session_id` is the receipt.\n\n" +
      "With two repeats or more, one run in ten of minted tasks is a canary: asked the published sample, not counted, and " +
      "given back. Which ones is told when all runs are final; until then their evidence and what they add to the score wait.",
    auth: "write",
    subject: "runs",
    body: BatchCreate,
    returns: { 200: z.array(RunRead) },
    problems: [...REFUSALS, "suite_unavailable", "conflicting_parameters"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const { submit } = await submitting();
      const reserved = await submit(ctx, principal, {
        agentId: body.agent_id,
        tasks: tasksOf(body),
        repeats: body.repeats,
        isPrivate: body.private,
      });
      return ok(reserved);
    },
  }),
  route({
    id: "listRuns",
    method: "get",
    path: "/api/v1/runs",
    tag,
    summary: "Runs that the caller may see",
    description:
      "`scope`, `team_id` and `mine` exclude each other; they go by the ownership recorded on each run. All other filters can be combined.",
    auth: "open",
    subject: "runs",
    query: pageQuery.extend({ ...runFilter.shape, sort: runSort, cursor: cursorQuery }),
    returns: { 200: z.union([longPageOf(RunRead, "RunPage"), sliceOf(RunRead, "RunSlice")]) },
    problems: ["conflicting_parameters", "invalid_cursor", "unauthenticated", "not_found"],
    async handler({ ctx, principal, query }) {
      const { page, page_size, sort, cursor, ...filter } = query;
      if (cursor === undefined)
        return ok(paged(await listRuns(ctx, principal, { filter, sort }, { page, page_size }), query));
      const asked = { principal, list: "runs", filter: { ...filter, sort }, cursor, key: RunKey, page, page_size };
      return ok(
        await sliced(ctx, asked, (after) => sliceRuns(ctx, principal, { filter, sort }, { after, size: page_size })),
      );
    },
  }),
  route({
    id: "readPreflight",
    method: "get",
    path: "/api/v1/runs/preflight",
    tag,
    summary: "What bounds a screening",
    description: "With `width` also how many repeats bring the 95% interval of a success rate down to it.",
    auth: "open",
    subject: "runs",
    query: estimateQuery,
    returns: { 200: ScreeningPreflightRead },
    problems: ["not_found"],
    cache: "catalogue",
    async handler({ ctx, principal, query }) {
      // An agent's record changes with its runs, not with the catalogue.
      const headers: Record<string, string> = query.agent_id === undefined ? {} : { "Cache-Control": "no-store" };
      return ok(await readPreflight(ctx, principal, query), headers);
    },
  }),
  route({
    id: "readRun",
    method: "get",
    path: "/api/v1/runs/{run_id}",
    tag,
    summary: "One run",
    auth: "open",
    subject: "runs",
    params,
    returns: { 200: RunRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { run_id } }) {
      return ok(await readRun(ctx, principal, run_id));
    },
  }),
  route({
    id: "updateRun",
    method: "patch",
    path: "/api/v1/runs/{run_id}",
    tag,
    summary: "Report on a running run",
    description:
      "For an agent that answered 202: with the callback token of the request as `Authorization: Bearer`, before the " +
      "deadline; counted by the token, 60 a minute, not by the address. Or for the agent's owner. Nobody can set a score. Once the run is final, nothing changes: the owner gets the run unchanged, and the token is no longer valid.",
    auth: "open",
    subject: "runs",
    needs: "runToken",
    ownTokens: callbackTokens,
    limit: "write",
    params,
    body: RunUpdate,
    async right({ ctx, principal, params: { run_id }, c }) {
      const { assertReportRight } = await reporting();
      return assertReportRight(ctx, reporterOf(c, principal), run_id);
    },
    returns: { 200: RunRead },
    problems: ["unauthenticated", "not_found", "forbidden", "feature_disabled", "insufficient_scope"],
    async handler({ ctx, principal, params: { run_id }, body, c }) {
      const { report } = await reporting();
      return ok(await report(ctx, reporterOf(c, principal), run_id, body, await c.req.text()));
    },
  }),
  route({
    id: "cancelRun",
    method: "post",
    path: "/api/v1/runs/{run_id}/cancel",
    tag,
    summary: "Cancel a queued run",
    description:
      "The run gives its allowance back. A running one can't be cancelled, 409 `run_in_progress`: it ends by its deadline, " +
      "and counts. A final run stays as it is. Runs of a certification are cancelled by those alone who may buy one: the " +
      "agent's owner, or the owner or an admin of its workspace. They count as not passed.",
    auth: "write",
    subject: "runs",
    params,
    right: ({ ctx, principal, params: { run_id } }) => assertCancelRight(ctx, principal, run_id),
    returns: { 200: RunRead },
    problems: ["not_found", "forbidden", "run_in_progress"],
    async handler({ ctx, principal, params: { run_id } }) {
      const { cancelRun } = await cancelling();
      return ok(await cancelRun(ctx, principal, run_id));
    },
  }),
  route({
    id: "readRunEvidence",
    method: "get",
    path: "/api/v1/runs/{run_id}/evidence",
    tag,
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
      // With it comes what makes proofs of the log, which nothing else of runs needs.
      const { inclusionOfStatement, readEvidence } = await import("../../shared/results/evidence.ts");
      const statement = await readEvidence(ctx, principal, run_id);
      if (format === "tlog-proof" || c.req.header("accept")?.includes(PROOF_TYPE) === true) {
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
