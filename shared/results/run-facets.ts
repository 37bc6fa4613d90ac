import { type SQL, sql } from "drizzle-orm";
import { DOMAINS } from "../catalogue/shown.ts";
import { runOutcome, TRIGGERS } from "../db/schema/index.ts";
import { FAILURE_CODES } from "../runs/answer.ts";
import type { RunFilter } from "./run-filter.ts";

type Facets = Partial<Pick<RunFilter, "status" | "passed" | "failure_code" | "trigger" | "domain">>;

/** How a failed run stands: by its code, `failed` without one. */
const FAILED = [...FAILURE_CODES, "failed"];
const OPEN = ["queued", "running"];
const JUDGED = ["passed", "not_passed"];

/** The outcomes (`runOutcome`) of the runs with a status, and with a value of `passed`: no others are among them. */
const OF_STATUS: Readonly<Record<NonNullable<Facets["status"]>, readonly string[]>> = {
  queued: ["queued"],
  running: ["running"],
  completed: JUDGED,
  failed: FAILED,
  cancelled: ["cancelled"],
};
const ALL = Object.values(OF_STATUS).flat();

/** Whether the filter narrows a list by what the indexes of facets have before the id. */
export function hasFacets({ status, passed, failure_code: code, trigger, domain }: Facets): boolean {
  return [status, passed, code, trigger, domain].some((facet) => facet !== undefined);
}

/**
 * SQL: the runs (`id`) that `scan` finds, narrowed to facets. It is given conditions of the run row `r` that an index has
 * right before the id, so that it reads no other runs: one look for each outcome, trigger and domain that the filter leaves
 * open. What it finds for each is in order, all together are not.
 */
export function byFacets(filter: Facets, scan: (conditions: SQL) => SQL): SQL {
  if (!hasFacets(filter)) return scan(sql``);
  const { trigger, domain } = filter;
  const run = { status: sql`r.status`, passed: sql`r.passed`, failure_code: sql`r.failure_code` };
  // No facet is said twice, or the planner would take fewer runs to be found than are.
  const answered = filter.failure_code === undefined ? sql`` : facetConditions({ failure_code: filter.failure_code });
  const conditions = sql`and ${runOutcome(run)} = f.outcome and r.trigger = f.trigger and r.domain = f.domain ${answered}`;
  return sql`select y.id from (
      select o.outcome, t.trigger, d.domain from ${values(outcomesOf(filter))} o(outcome)
        cross join ${values(trigger === undefined ? TRIGGERS : [trigger])} t(trigger)
        cross join ${values(domain === undefined ? DOMAINS : [domain])} d(domain)
    ) f cross join lateral (${scan(conditions)}) y`;
}

/** SQL: the facets of a filter as conditions of the run row `r`. */
export function facetConditions({ status, passed, failure_code: code, trigger, domain }: Facets): SQL {
  return sql.join(
    [
      status === undefined ? sql`` : sql`and r.status = ${status}`,
      passed === undefined ? sql`` : sql`and r.passed = ${passed}`,
      code === undefined ? sql`` : sql`and r.failure_code = ${code}`,
      trigger === undefined ? sql`` : sql`and r.trigger = ${trigger}`,
      domain === undefined ? sql`` : sql`and r.domain = ${domain}`,
    ],
    sql` `,
  );
}

function outcomesOf({ status, passed, failure_code: code }: Facets): string[] {
  const allowed = [
    status === undefined ? ALL : OF_STATUS[status],
    passed === undefined ? ALL : passed ? ["passed"] : ["not_passed", ...FAILED],
    // A run that was answered is running until it is scored, and says already why it will have failed.
    code === undefined ? ALL : [...OPEN, code],
  ];
  return ALL.filter((outcome) => allowed.every((outcomes) => outcomes.includes(outcome)));
}

/** SQL: a function call that gives these names as rows, and the planner their number. */
function values(names: readonly string[]): SQL {
  return sql`unnest(string_to_array(${names.join(",")}, ','))`;
}
