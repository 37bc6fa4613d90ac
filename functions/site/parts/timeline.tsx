import { counted } from "./in-words.ts";
import { Scroll } from "./notice.tsx";

const ROW = 24;
const NAMES = 180;
const WIDTH = 640;
/** Pixels by which what is inside of something else stands further in. */
const STEP = 12;

/** What took place, from when to when, in milliseconds since some time; `depth` is how deep inside others. */
export interface Happening {
  name: string;
  from: number;
  to: number;
  depth?: number;
  failed?: boolean;
}

/** What happened over time, a row each; a table that tells the same has to stand below. */
export function Timeline({ label, what, rows }: { label: string; what: string; rows: readonly Happening[] }) {
  const first = Math.min(...rows.map(({ from }) => from));
  const span = Math.max(1, ...rows.map(({ to }) => to - first));
  const x = (time: number): number => NAMES + Math.round(((time - first) / span) * (WIDTH - NAMES - 8));
  return (
    <Scroll label={label}>
      <svg
        width={WIDTH}
        height={rows.length * ROW}
        viewBox={`0 0 ${WIDTH} ${rows.length * ROW}`}
        role="img"
        aria-label={`${counted(rows.length, what)} over ${Math.round(span)} ms; the table below has each`}
        class="box"
      >
        {rows.map(({ name, from, to, depth = 0, failed = false }, row) => (
          <>
            <text x={depth * STEP} y={row * ROW + 16}>
              {failed ? `✕ ${name}` : name}
            </text>
            <rect class="value" x={x(from)} y={row * ROW + 6} width={Math.max(3, x(to) - x(from))} height="12" />
          </>
        ))}
      </svg>
    </Scroll>
  );
}
