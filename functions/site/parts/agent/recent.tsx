import type * as z from "zod";
import type { AgentStats } from "../../../../shared/results/stats.ts";
import { Day } from "../../layout.tsx";
import { costInWords } from "../in-words.ts";
import { Table } from "../notice.tsx";

type Run = z.output<typeof AgentStats>["recent_runs"][number];

/** What came of a run, in a word or two. */
function outcome({ status, passed, failure_code }: Run): string {
  if (failure_code !== null) return failure_code.replaceAll("_", " ");
  if (status !== "completed") return status;
  return passed === null ? "not graded" : passed ? "passed" : "not passed";
}

/** The columns that `RunCells` fills. */
export const RUN_COLUMNS: Parameters<typeof Table>[0]["columns"] = [
  "Outcome",
  ["Took", "number"],
  ["Cost", "number"],
  "Evidence",
];

/** What came of a run, as cells of a row. */
export function RunCells({ run }: { run: Run }) {
  return (
    <>
      <td>
        {outcome(run)}
        {run.simulated && <span class="tag">simulated</span>}
        {run.is_private && <span class="tag">private</span>}
      </td>
      <td class="number">{run.latency_ms === null ? "–" : `${run.latency_ms} ms`}</td>
      <td class="number">
        {run.evidence_cost_usd === null ? "–" : costInWords(run.evidence_cost_usd)}
        {run.evidence_cost_partial && ", in part"}
      </td>
      <td>{run.evidence_signed ? "signed" : "–"}</td>
    </>
  );
}

/** The latest runs of an agent, each with the way to its evidence, and the ways to the others. */
export function Recent({ agentId, runs }: { agentId: string; runs: readonly Run[] }) {
  if (runs.length === 0) return null;
  return (
    <>
      <h2>Recent runs</h2>
      <Table label="Recent runs" columns={["Run", ...RUN_COLUMNS]}>
        {runs.map((run) => (
          <tr>
            <td>
              <a href={`/runs/${run.id}`}>
                <Day time={run.created_at} /> <code>{run.id.slice(-8)}</code>
              </a>
            </td>
            <RunCells run={run} />
          </tr>
        ))}
      </Table>
      <p>
        <a href={`/agents/${agentId}/runs`}>All its runs</a> ·{" "}
        <a href={`/agents/${agentId}/screenings`}>its screenings</a>
      </p>
    </>
  );
}
