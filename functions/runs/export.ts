import * as z from "zod";
import { route } from "../../shared/http/route.ts";
import { streamed } from "../../shared/http/stream.ts";
import { exportRuns } from "../../shared/results/export.ts";

export const runExport = [
  route({
    id: "exportRuns",
    method: "get",
    path: "/api/v1/runs/export.csv",
    tag: "Runs",
    summary: "All runs that the caller asked for, as CSV",
    description:
      "Those of `mine=true`, newest first, for accounts of the plan Pro or higher: a header line, then a line for " +
      "each run with the scalar fields of RunRead in order, as in RFC 4180 and in UTF-8. A text that a spreadsheet " +
      "would take for a formula gets an apostrophe in front; numbers are not changed. An answer that ends without " +
      "its last chunk is incomplete.",
    auth: "read",
    query: z.object({ agent_id: z.uuid().optional() }),
    returns: { 200: { type: "text/csv", description: "The file, as it is read from the database" } },
    problems: ["plan_required", "not_found"],
    async handler({ ctx, principal, query, c }) {
      const file = await exportRuns(ctx, principal, query.agent_id ?? null);
      return c.newResponse(streamed(ctx, file), 200, {
        "Content-Type": "text/csv; charset=utf-8; header=present",
        "Content-Disposition": `attachment; filename="runs-${ctx.now().toISOString().slice(0, 10)}.csv"`,
        "Cache-Control": "private, no-store",
        Vary: "Authorization, Cookie, X-API-Key",
      });
    },
  }),
];
