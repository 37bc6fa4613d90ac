import * as z from "zod";
import { noContent } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

/** Longest text of a report that is logged. */
const MAX_TEXT = 200;

const text = z.string().optional().catch(undefined);

/** One violation as the `report-uri` of CSP Level 2 sends it. */
const Legacy = z.looseObject({ "violated-directive": text, "blocked-uri": text, "document-uri": text });

/** One report as the Reporting API sends it; the types other than `csp-violation` have bodies of their own. */
const Report = z.looseObject({
  type: z.string(),
  body: z.looseObject({ effectiveDirective: text, blockedURL: text, documentURL: text }).nullish(),
});

const Reports = z.union([z.looseObject({ "csp-report": Legacy }), z.array(Report)]).meta({ id: "CspReports" });

interface Violation {
  directive: string | undefined;
  blocked: string | undefined;
  document: string | undefined;
}

function violationsIn(reports: z.output<typeof Reports>): Violation[] {
  if (!Array.isArray(reports)) {
    const { "violated-directive": directive, "blocked-uri": blocked, "document-uri": document } = reports["csp-report"];
    return [{ directive, blocked, document }];
  }
  return reports
    .filter(({ type }) => type === "csp-violation")
    .map(({ body }) => ({
      directive: body?.effectiveDirective,
      blocked: body?.blockedURL,
      document: body?.documentURL,
    }));
}

/**
 * A reported text as it is logged: cut to a maximal length, and a URL without query and fragment, which may hold
 * secrets.
 */
function shown(reported: string | undefined): string | null {
  return reported?.split(/[?#]/, 1)[0]?.slice(0, MAX_TEXT) ?? null;
}

export const cspReports = [
  route({
    id: "reportCsp",
    method: "post",
    path: "/api/v1/csp-reports",
    tag: "Health",
    summary: "Report a violation of the content security policy",
    description:
      "For browsers: `application/csp-report` (`report-uri`) or `application/reports+json` (Reporting API), at most " +
      "64 KiB. The first violation is logged, with the queries removed from its URLs.",
    auth: "none",
    limit: "telemetry",
    body: Reports,
    accepts: { types: ["application/csp-report", "application/reports+json"], maxBytes: 64 * 1024 },
    returns: { 204: null },
    handler({ ctx, body }) {
      const [first, ...more] = violationsIn(body);
      if (first !== undefined) {
        const { directive, blocked, document } = first;
        const fields = { directive: shown(directive), blocked: shown(blocked), document: shown(document) };
        ctx.log.warn("csp violation", { ...fields, more: more.length });
      }
      return noContent();
    },
  }),
];
