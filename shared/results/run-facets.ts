import { type SQL, sql } from "drizzle-orm";
import { DOMAINS } from "../catalogue/domains.ts";
import { runOutcome, runs, TRIGGERS } from "../db/schema/index.ts";
import { FAILURE_CODES } from "../runs/answer.ts";
import type { RunFilter } from "./run-filter.ts";

type Facets = Partial<Pick<RunFilter, "status" | "passed" | "failure_code" | "trigger" | "domain">>;

/** How a failed run stands: by its code, `failed` without one. */
const FAILED = [...FAILURE_CODES, "failed"];
const OPEN = ["queued", "running"];
const JUDGED = ["passed", "not_passed"];
/** How a run stands that is held to be not passed: one that failed by our fault was never judged. */
const NOT_PASSED = ["not_passed", ...FAILED].filter((outcome) => outcome !== "service_error");

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
  const { outcomes, triggers, domains } = namesOf(filter);
  return sql`select y.id from (
      select o.outcome, t.trigger, d.domain from unnest(${outcomes}) o(outcome)
        cross join unnest(${triggers}) t(trigger) cross join unnest(${domains}) d(domain)
    ) f cross join lateral (${scan(likeFacets(filter))}) y`;
}

/**
 * SQL: of each agent of `these` (a query of agents) the facets that runs of it have, of those that the filter lets through:
 * `agent_id`, `outcome`, `trigger` and `domain`. Each is found by the index behind the one before. Whoever has hundreds of
 * agents has few runs of most: to look for every facet of each takes hundreds of times as long.
 */
export function facetsOfAgents(these: SQL, filter: Facets): SQL {
  const { outcomes, triggers, domains } = namesOf(filter);
  const next = (condition: SQL) => sql`select ${OUTCOME} as outcome, r.trigger, r.domain from ${runs} r
    where r.agent_id = a.id ${condition} order by ${OUTCOME}, r.trigger, r.domain limit 1`;
  return sql`select a.id as agent_id, f.* from (${these}) a cross join lateral (
      with recursive e as (
        (${next(sql``)}) union all
        select n.* from e cross join lateral (
          ${next(sql`and (${OUTCOME}, r.trigger, r.domain) > (e.outcome, e.trigger, e.domain)`)}) n
      ) select * from e
    ) f where f.outcome = any(${outcomes}) and f.trigger = any(${triggers}) and f.domain = any(${domains})`;
}

const OUTCOME = runOutcome({ status: sql`r.status`, passed: sql`r.passed`, failure_code: sql`r.failure_code` });

/** SQL: whether the run row `r` has the facets `f` that a filter lets through, as conditions that an index has. */
export function likeFacets({ failure_code: code }: Facets): SQL {
  // No facet is said twice, or the planner would take fewer runs to be found than are.
  const answered = code === undefined ? sql`` : facetConditions({ failure_code: code });
  return sql`and ${OUTCOME} = f.outcome and r.trigger = f.trigger and r.domain = f.domain ${answered}`;
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
    passed === undefined ? ALL : passed ? ["passed"] : NOT_PASSED,
    // A run that was answered is running until it is scored, and says already why it will have failed.
    code === undefined ? ALL : [...OPEN, code],
  ];
  return ALL.filter((outcome) => allowed.every((outcomes) => outcomes.includes(outcome)));
}

/** SQL: the names of the facets that a filter lets through, as arrays whose lengths the planner knows. */
function namesOf(filter: Facets): Record<"outcomes" | "triggers" | "domains", SQL> {
  const { trigger, domain } = filter;
  const array = (names: readonly string[]) => sql`string_to_array(${names.join(",")}, ',')`;
  return {
    outcomes: array(outcomesOf(filter)),
    triggers: array(trigger === undefined ? TRIGGERS : [trigger]),
    domains: array(domain === undefined ? DOMAINS : [domain]),
  };
}
