import type * as z from "zod";
import type { RunPhases } from "../../../shared/runs/records-shown.ts";
import { Table } from "./notice.tsx";
import { Timeline } from "./timeline.tsx";

type Phase = z.output<typeof RunPhases>["items"][number];

const named = (phase: string): string => phase.replaceAll("_", " ");
const ms = (time: string): number => Date.parse(time);
const began = ({ occurred_at, duration_ms }: Phase): number => ms(occurred_at) - (duration_ms ?? 0);

/** The facts of a run, each from its beginning to its end, and as a table behind it. */
export function Phases({ items }: { items: readonly Phase[] }) {
  if (items.length === 0) return <p>Nothing has happened yet.</p>;
  const first = Math.min(...items.map(began));
  const rows = items.map((phase) => ({
    name: named(phase.phase),
    from: began(phase),
    to: ms(phase.occurred_at),
    failed: phase.outcome === "failed",
  }));
  return (
    <>
      <Timeline label="What happened, over time" what="phase" rows={rows} />
      <details>
        <summary>As a table</summary>
        <Table
          label="Phases"
          columns={["Phase", "Outcome", ["After", "number"], ["Took", "number"], ["Noted", "wide"]]}
        >
          {items.map(({ phase, outcome, occurred_at, duration_ms, metadata }) => (
            <tr>
              <td>{named(phase)}</td>
              <td>{named(outcome)}</td>
              <td class="number">{ms(occurred_at) - first} ms</td>
              <td class="number">{duration_ms === null ? "–" : `${duration_ms} ms`}</td>
              <td class="wide">
                {Object.entries(metadata)
                  .map(
                    ([name, value]) => `${named(name)}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
                  )
                  .join(", ")}
              </td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
