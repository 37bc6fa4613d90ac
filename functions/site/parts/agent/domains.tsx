import type { AgentEntry } from "../../../../shared/board/board.ts";
import { Bar, percent } from "../../layout.tsx";
import { intervalOf } from "../in-words.ts";
import { Table } from "../notice.tsx";

/** An agent's scores on the tasks of each domain. */
export function Domains({ entries }: { entries: readonly AgentEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <>
      <h2>By domain</h2>
      <Table
        label="By domain"
        columns={[
          "Domain",
          ["Score", "number"],
          "95% interval",
          ["Success", "number"],
          ["Tasks", "number"],
          ["Runs", "number"],
        ]}
      >
        {entries.map((entry) => (
          <tr>
            <th>{entry.domain.replaceAll("_", " ")}</th>
            <td class="number">{entry.composite_score.toFixed(2)}</td>
            <td>
              <Bar
                value={entry.composite_score / 100}
                low={entry.score_low / 100}
                high={entry.score_high / 100}
                label={intervalOf(entry)}
              />
            </td>
            <td class="number">{percent(entry.success_rate)}</td>
            <td class="number">{entry.tasks}</td>
            <td class="number">{entry.runs}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
