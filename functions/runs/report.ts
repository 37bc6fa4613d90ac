import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { assertScope, bearerToken, type OwnTokens } from "../../shared/http/credentials.ts";
import { assertWithin, countCaller } from "../../shared/http/limits.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Principal } from "../../shared/identity/principal.ts";
import type { Context } from "../../shared/platform/context.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { CALLBACK_TOKEN_PREFIX, isCallbackTokenOf } from "../../shared/runs/callback-token.ts";
import { noteFaultyReport } from "../../shared/runs/refused-reports.ts";
import { assertReportRight, cameAt, report, type Reporter } from "../../shared/runs/report.ts";
import { RunUpdate } from "../../shared/runs/schemas.ts";
import { RunRead } from "../../shared/runs/shown.ts";

const params = z.object({ run_id: z.uuid() });

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

/**
 * Each report waits for the run's row: at the pace of a key they could keep the agent's own report waiting until the database
 * seems not to answer, and its run would be taken up again as if that were our fault.
 */
async function countOfUser(ctx: Context, userId: string, runId: string): Promise<void> {
  const standing = await countCaller(ctx, "write", `${userId}:${runId}`);
  if (standing !== null) assertWithin(standing);
}

export const reportRuns = [
  route({
    id: "updateRun",
    method: "patch",
    path: "/api/v1/runs/{run_id}",
    tag: "Runs",
    summary: "Report on a running run",
    description:
      "For an agent that answered 202: with the callback token of the request as `Authorization: Bearer`, before the " +
      "deadline; counted by the token, 60 a minute, not by the address. Or for the agent's owner, 60 a minute on a run. " +
      "Nobody can set a score. After the deadline the token is no longer valid, and the owner is answered 409. Once the run " +
      "is final, nothing changes: the owner gets the run unchanged.",
    auth: "open",
    subject: "runs",
    needs: "runToken",
    ownTokens: callbackTokens,
    limit: "write",
    params,
    body: RunUpdate,
    right: ({ ctx, principal, params: { run_id }, c }) => assertReportRight(ctx, reporterOf(c, principal), run_id),
    noteRefusal: async ({ ctx, params: { run_id }, c }, refused, at) => {
      // An owner who reports by themselves reads the answer.
      if (bearerToken(c)?.startsWith(CALLBACK_TOKEN_PREFIX))
        await noteFaultyReport(ctx, run_id, cameAt(ctx, at), refused);
    },
    returns: { 200: RunRead },
    problems: [
      "unauthenticated",
      "not_found",
      "forbidden",
      "report_too_late",
      "feature_disabled",
      "insufficient_scope",
    ],
    async handler({ ctx, principal, params: { run_id }, body, c }) {
      const reporter = reporterOf(c, principal);
      if (reporter.kind === "user") await countOfUser(ctx, reporter.userId, run_id);
      return ok(await report(ctx, reporter, run_id, body, await c.req.text()));
    },
  }),
];
