import type * as z from "zod";
import type { AgentEntry } from "../../../../shared/board/board.ts";
import type { AgentStats } from "../../../../shared/results/stats.ts";
import { percent, variantsOf } from "../../layout.tsx";
import { SCORE_GUIDE } from "../guide-addresses.ts";
import { BASES, costInWords, counted, intervalOf, STATES } from "../in-words.ts";

/** A difference of shares in percentage points; one that is nothing has no sign. */
const points = (gap: number): string => (100 * gap).toFixed(1).replace(/^-(?=0\.0$)/, "");

/** How the pass rate of the samples stands to that of new tasks, going by the difference as it is shown. */
function againstNew({ value }: { value: number }): string {
  const shown = Number(points(value));
  return shown === 0 ? "as often as new tasks" : `${shown > 0 ? "more" : "less"} often than new tasks`;
}

interface ScoreProps {
  agentId: string;
  state: keyof typeof STATES;
  entry: AgentEntry;
  stats: Pick<z.output<typeof AgentStats>, "avg_cost_usd" | "simulated">;
}

/** The score of an agent with all that qualifies it. */
export function Score({ agentId, state, entry, stats: { avg_cost_usd: cost, simulated } }: ScoreProps) {
  const { memorisation_gap: gap } = entry;
  return (
    <dl>
      <dt>Score</dt>
      <dd>
        <strong>{entry.composite_score.toFixed(2)}</strong> ({intervalOf(entry)}) of 100,{" "}
        {entry.simulated ? "simulated" : BASES[entry.score_basis]}: <a href={SCORE_GUIDE}>how the score comes about</a>
      </dd>
      <dt>State</dt>
      <dd>
        {state}: {STATES[state]}
      </dd>
      <dt>Parts</dt>
      <dd>
        success {percent(entry.success_rate)}, reliability {percent(entry.reliability)}, cost efficiency{" "}
        {percent(entry.cost_efficiency)}
      </dd>
      <dt>Cost</dt>
      <dd>
        {cost === null
          ? "unknown"
          : `${costInWords(cost)} a run on average, ${simulated ? "simulated" : "reported by the agent itself"}`}
        {entry.evidence_cost_floor_applied && ", in part below the floor, and taken at that"}
      </dd>
      {entry.variants > 0 && (
        <>
          <dt>Group</dt>
          <dd>{variantsOf(entry)}</dd>
        </>
      )}
      {gap !== null && (
        <>
          <dt>Samples</dt>
          <dd>
            {entry.memorised && <span class="tag">memorised</span>} passes the published samples {againstNew(gap)}: a
            difference of {points(gap.value)} percentage points ({points(gap.low)} to {points(gap.high)},{" "}
            {counted(gap.canary_runs, "canary", "canaries")})
          </dd>
        </>
      )}
      <dt>Evidence</dt>
      <dd>
        {counted(entry.runs, "run")} of {counted(entry.tasks, "task")}: <a href={`/agents/${agentId}/runs`}>runs</a>,{" "}
        <a href={`/agents/${agentId}/screenings`}>screenings</a>
        {entry.asked_runs !== null && `, the latest of ${counted(entry.asked_runs, "run")} that it was asked`}
        {entry.uneven && (
          <>
            {" "}
            <span class="tag">uneven</span> some tasks more often than others, which keeps good luck; it goes once all
            were asked as often
          </>
        )}
      </dd>
    </dl>
  );
}
