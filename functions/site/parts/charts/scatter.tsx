import { Figure } from "./figure.tsx";
import { corners, scale } from "./scale.ts";

/** One of several choices: how much it passes (0 to 1), and what a task costs with it; null where unknown. */
export interface Choice {
  name: string;
  share: number | null;
  cost: number | null;
  /** No other one passes as much at no more cost. */
  best: boolean;
  /** The numbers are of simulated runs. */
  simulated?: boolean;
}

const SIZE = { width: 360, height: 220 };
const PLOT = { left: 42, right: 340, top: 14, bottom: 180 };
/** The cost axis goes on a little behind the dearest one. */
const ROOM = 1.08;

const dollars = (cost: number): string => `$${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`;

/** Pass rates over costs, with a line through the best ones; each is numbered as in the table behind it. */
export function ScatterChart({ title, choices }: { title: string; choices: readonly Choice[] }) {
  const drawn = choices.flatMap(({ share, cost, best }, index) =>
    share === null || cost === null ? [] : [{ share, cost, best, number: index + 1 }],
  );
  const dearest = Math.max(...drawn.map(({ cost }) => cost), 0) * ROOM || 1;
  const x = scale([0, dearest], [PLOT.left, PLOT.right]);
  const y = scale([0, 1], [PLOT.bottom, PLOT.top]);
  const front = drawn.filter(({ best }) => best).toSorted((a, b) => a.cost - b.cost || a.share - b.share);
  return (
    <Figure
      title={title}
      heads={["Agent", "Number", "Pass rate", "Cost a task"]}
      rows={choices.map(({ name, share, cost, simulated = false }, index) => [
        name,
        index + 1,
        share === null ? "–" : `${Math.round(100 * share)}%${simulated ? ", simulated" : ""}`,
        cost === null ? "unknown" : dollars(cost),
      ])}
      open
    >
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={`${drawn.length} of ${choices.length} by pass rate and cost; ${front.length} on the line of the best`}
      >
        {[0, 0.5, 1].map((mark) => (
          <>
            <line class="axis" x1={PLOT.left} x2={PLOT.right} y1={y(mark)} y2={y(mark)} />
            <text x={PLOT.left - 6} y={y(mark) + 4} text-anchor="end">
              {100 * mark}%
            </text>
          </>
        ))}
        <text x={PLOT.left} y={PLOT.bottom + 16}>
          $0
        </text>
        <text x={PLOT.right} y={PLOT.bottom + 16} text-anchor="end">
          {dollars(dearest)}
        </text>
        <text x={(PLOT.left + PLOT.right) / 2} y={PLOT.bottom + 32} text-anchor="middle">
          cost a task
        </text>
        <polyline class="front" points={corners(front.map(({ cost, share }) => [x(cost), y(share)]))} />
        {drawn.map(({ share, cost, best, number }) => (
          <>
            <circle class={best ? "dot" : "dot off"} cx={x(cost)} cy={y(share)} r="4.5" />
            <text x={x(cost) + 7} y={y(share) - 6}>
              {number}
            </text>
          </>
        ))}
      </svg>
    </Figure>
  );
}
