import type * as z from "zod";
import type { RunPhases } from "../../../shared/runs/schemas.ts";
import { Scroll, Table } from "./notice.tsx";

type Phase = z.output<typeof RunPhases>["items"][number];

const ROW = 24;
const NAMES = 180;
const WIDTH = 640;

const named = (phase: string): string => phase.replaceAll("_", " ");
const ms = (time: string): number => Date.parse(time);
const began = ({ occurred_at, duration_ms }: Phase): number => ms(occurred_at) - (duration_ms ?? 0);

/** The facts of a run, each from its beginning to its end, and as a table behind it. */
export function Phases({ items }: { items: readonly Phase[] }) {
  if (items.length === 0) return <p>Nothing has happened yet.</p>;
  const first = Math.min(...items.map(began));
  const span = Math.max(1, ...items.map(({ occurred_at }) => ms(occurred_at) - first));
  const x = (time: number): number => NAMES + Math.round(((time - first) / span) * (WIDTH - NAMES - 8));
  return (
    <>
      <Scroll label="What happened, over time">
        <svg
          width={WIDTH}
          height={items.length * ROW}
          viewBox={`0 0 ${WIDTH} ${items.length * ROW}`}
          role="img"
          aria-label={`${items.length} phases over ${span} ms; the table below has each`}
          class="box"
        >
          {items.map((phase, row) => (
            <>
              <text x="0" y={row * ROW + 16}>
                {named(phase.phase)}
              </text>
              <rect
                class="value"
                x={x(began(phase))}
                y={row * ROW + 6}
                width={Math.max(3, x(ms(phase.occurred_at)) - x(began(phase)))}
                height="12"
              />
            </>
          ))}
        </svg>
      </Scroll>
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
