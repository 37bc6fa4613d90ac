import * as z from "zod";
import { cursorQuery, sliced, sliceOf } from "../../shared/http/cursor.ts";
import { longPageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listRuns, RunKey, sliceRuns } from "../../shared/results/list.ts";
import { readRun } from "../../shared/results/read-run.ts";
import { runFilter, runSort } from "../../shared/results/run-filter.ts";
import { RunRead } from "../../shared/runs/shown.ts";

const tag = "Runs";
const params = z.object({ run_id: z.uuid() });

export const runs = [
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
];
