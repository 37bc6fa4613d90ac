import type * as z from "zod";
import type { SuiteRead } from "../../../shared/catalogue/shown.ts";
import type { AgentStats } from "../../../shared/results/stats.ts";
import type { ScreeningPreflightRead } from "../../../shared/runs/preflight-shown.ts";
import { widthOf } from "../../../shared/scoring/repeats.ts";
import { costInWords, counted } from "./in-words.ts";
import { Table } from "./notice.tsx";

type Suite = z.output<typeof SuiteRead>;
type Preflight = z.output<typeof ScreeningPreflightRead>;
type Estimate = NonNullable<Preflight["repeats_estimate"]>;

/** How often each task may be asked in the choices that are told. */
const REPEATS = [1, 3, 5] as const;

/** What is known of an agent before it is screened. */
interface Known {
  preflight: Preflight;
  /** What the agent's record says of its runs so far, as far as those that are to come are like them. */
  stats: Pick<z.output<typeof AgentStats>, "avg_latency_ms" | "avg_cost_usd">;
}

/** A span of time in the unit that is read at a glance, rounded up. */
export function spanInWords(ms: number): string {
  const units = [
    ["second", 1000],
    ["minute", 60_000],
    ["hour", 3_600_000],
  ] as const;
  const [name, length] = units.findLast(([, unit]) => ms >= 2 * unit) ?? units[0];
  const count = Math.max(1, Math.ceil(ms / length));
  return counted(count, name);
}

/** How long so many runs last: by what the agent took so far, else the most that the limits of tasks allow. */
function lastsFor(runs: number, repeats: number, { preflight, stats }: Known): string {
  const {
    max_concurrency_per_agent: atOnce,
    max_task_time_limit_ms: limit,
    estimated_max_duration_ms: all,
  } = preflight;
  if (stats.avg_latency_ms !== null) return `about ${spanInWords((runs * stats.avg_latency_ms) / atOnce)}`;
  const most = Math.ceil(runs / atOnce) * limit;
  return `at most ${spanInWords(all > 0 ? Math.min(most, all * repeats) : most)}`;
}

/** Half the width of the interval to expect, in percentage points. */
function pointsFor(tasks: number, repeats: number, estimate: Estimate): string {
  const spread = { within: estimate.variance_within, between: estimate.variance_between };
  return `± ${counted(Math.round(50 * widthOf(spread, tasks, repeats)), "point")}`;
}

function costFor(runs: number, { stats }: Known): string {
  return stats.avg_cost_usd === null ? "not known yet" : `about ${costInWords(runs * stats.avg_cost_usd)}`;
}

/** By what the numbers of the table go. */
function Basis({ estimate, stats }: { estimate: Estimate | null; stats: Known["stats"] }) {
  return (
    <p class="mute">
      {estimate !== null &&
        `How sure: in 19 of 20 screenings the share of tasks that it passes in the long run lies this near to what is found${
          estimate.basis === "agent"
            ? `, going by how its runs of ${counted(estimate.tasks, "task")} differed so far. `
            : ". Nothing is known of it yet, so this is the most that chance can do. "
        }`}
      {stats.avg_cost_usd === null
        ? "What its model calls cost is known once runs of it tell; a screening takes nothing but runs of the allowance."
        : "Costs are what its runs told so far, paid to whoever serves its models; here it takes nothing but runs of the allowance."}
      {stats.avg_latency_ms === null && " Most agents are done long before the limits of the tasks."}
    </p>
  );
}

/** What each choice takes and brings: runs of the allowance, how sure the result is, how long it lasts and what it costs. */
export function Expectations({
  suites,
  left,
  preflight,
  stats,
}: Known & {
  suites: readonly Suite[];
  /** Runs that are left of the allowance. */
  left: number;
}) {
  const estimate = preflight.repeats_estimate;
  return (
    <>
      <Table
        label="What a screening takes and brings"
        caption="What a screening takes and brings"
        columns={[
          ["Suite", "wide"],
          ["Each task", "number"],
          ["Runs", "number"],
          ["How sure", "number"],
          ["Lasts", "number"],
          ["Costs", "number"],
        ]}
      >
        {suites.flatMap(({ name, description, task_count: tasks }) =>
          REPEATS.map((repeats, index) => (
            <tr>
              {index === 0 && (
                <th scope="rowgroup" rowspan={REPEATS.length} class="wide">
                  {name}
                  <br />
                  <span class="mute">{description}</span>
                </th>
              )}
              <td class="number">{repeats === 1 ? "once" : `${repeats} times`}</td>
              <td class="number">
                {tasks * repeats}
                {tasks * repeats > left && <span class="tag">more than is left</span>}
              </td>
              <td class="number">{estimate === null ? "–" : pointsFor(tasks, repeats, estimate)}</td>
              <td class="number">{lastsFor(tasks * repeats, repeats, { preflight, stats })}</td>
              <td class="number">{costFor(tasks * repeats, { preflight, stats })}</td>
            </tr>
          )),
        )}
      </Table>
      <Basis estimate={estimate} stats={stats} />
    </>
  );
}
