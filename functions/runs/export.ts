import type { Context as HonoContext } from "hono";
import * as z from "zod";
import type { UserPrincipal } from "../../shared/identity/principal.ts";
import { route } from "../../shared/http/route.ts";
import { streamed } from "../../shared/http/stream.ts";
import type { Context } from "../../shared/platform/context.ts";
import { type ExportForm, exportRuns } from "../../shared/results/export.ts";

const WHICH = "Those of `mine=true`, newest first, for accounts of the plan Pro or higher: ";
const INCOMPLETE = "An answer that ends without its last chunk is incomplete.";

const query = z.object({
  agent_id: z.uuid().optional(),
  screening_session_id: z.uuid().optional().meta({ description: "404 unless the caller may see the session" }),
});

const TYPES: Readonly<Record<ExportForm, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  jsonl: "application/jsonl; charset=utf-8",
};

async function fileOf(
  form: ExportForm,
  {
    ctx,
    principal,
    query: narrowed,
    c,
  }: {
    ctx: Context;
    principal: UserPrincipal;
    query: z.output<typeof query>;
    c: HonoContext;
  },
): Promise<Response> {
  const file = await exportRuns(ctx, principal, narrowed, form);
  return c.newResponse(streamed(ctx, file), 200, {
    "Content-Type": TYPES[form],
    "Content-Disposition": `attachment; filename="runs-${ctx.now().toISOString().slice(0, 10)}.${form}"`,
    "Cache-Control": "private, no-store",
    Vary: "Authorization, Cookie, X-API-Key",
  });
}

export const runExport = [
  route({
    id: "exportRuns",
    method: "get",
    path: "/api/v1/runs/export.csv",
    tag: "Runs",
    summary: "All runs that the caller asked for, as CSV",
    description:
      `${WHICH}a header line, then a line for each run with the scalar fields of RunRead in order, as in RFC 4180 and ` +
      "in UTF-8. A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers are not " +
      `changed. ${INCOMPLETE}`,
    auth: "read",
    subject: "runs",
    query,
    streamed: true,
    returns: { 200: { type: "text/csv", description: "The file, as it is read from the database" } },
    problems: ["plan_required", "not_found"],
    handler: (request) => fileOf("csv", request),
  }),
  route({
    id: "exportRunsAsJson",
    method: "get",
    path: "/api/v1/runs/export.jsonl",
    tag: "Runs",
    summary: "All runs that the caller asked for, as JSON Lines",
    description: `${WHICH}a RunRead a line, in UTF-8, each line ended by a line feed. ${INCOMPLETE}`,
    auth: "read",
    subject: "runs",
    query,
    streamed: true,
    returns: { 200: { type: "application/jsonl", description: "The file, as it is read from the database" } },
    problems: ["plan_required", "not_found"],
    handler: (request) => fileOf("jsonl", request),
  }),
];
