import { costInWords } from "../in-words.ts";
import { Figure } from "./figure.tsx";
import { DOT, placeLabels } from "./labels.ts";
import { corners, scale } from "./scale.ts";

/** One of several choices: how much it passes (0 to 1), and what a task costs with it; null where unknown. */
export interface Choice {
  name: string;
  share: number | null;
  cost: number | null;
  /** What the cost is of, where it is not of all. */
  known?: string;
  /** No other one passes as much at no more cost. */
  best: boolean;
  /** The numbers are of simulated runs. */
  simulated?: boolean;
}

const SIZE = { width: 360, height: 220 };
const PLOT = { left: 42, right: 340, top: 14, bottom: 180 };
/** The cost axis goes on a little behind the dearest one. */
const ROOM = 1.08;

/**
 * Pass rates over costs, with a line through the best ones; each is numbered as in the table behind it, as far as there is
 * room for numbers, the best ones first.
 */
export function ScatterChart({ title, choices }: { title: string; choices: readonly Choice[] }) {
  const drawn = choices.flatMap(({ share, cost, best }, index) =>
    share === null || cost === null ? [] : [{ share, cost, best, number: index + 1 }],
  );
  const dearest = Math.max(...drawn.map(({ cost }) => cost), 0) * ROOM || 1;
  const x = scale([0, dearest], [PLOT.left, PLOT.right]);
  const y = scale([0, 1], [PLOT.bottom, PLOT.top]);
  const numbered = drawn
    .map((choice) => ({ ...choice, x: x(choice.cost), y: y(choice.share), text: String(choice.number) }))
    .toSorted((a, b) => Number(b.best) - Number(a.best));
  const places = placeLabels(numbered, { ...PLOT, right: SIZE.width, top: 0 });
  const front = drawn.filter(({ best }) => best).toSorted((a, b) => a.cost - b.cost || a.share - b.share);
  return (
    <Figure
      title={title}
      heads={["Agent", "Number", "Pass rate", "Cost a task"]}
      rows={choices.map(({ name, share, cost, known, simulated = false }, index) => [
        name,
        index + 1,
        share === null ? "–" : `${Math.round(100 * share)}%${simulated ? ", simulated" : ""}`,
        cost === null ? "unknown" : `${costInWords(cost)}${known === undefined ? "" : `, of ${known}`}`,
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
          0 USD
        </text>
        <text x={PLOT.right} y={PLOT.bottom + 16} text-anchor="end">
          {costInWords(dearest)}
        </text>
        <text x={(PLOT.left + PLOT.right) / 2} y={PLOT.bottom + 32} text-anchor="middle">
          cost a task
        </text>
        <polyline class="front" points={corners(front.map(({ cost, share }) => [x(cost), y(share)]))} />
        {numbered.map((dot) => (
          <circle class={dot.best ? "dot" : "dot off"} cx={dot.x} cy={dot.y} r={DOT} />
        ))}
        {numbered.map(({ text }, index) => {
          const place = places[index];
          return place && <text {...place}>{text}</text>;
        })}
      </svg>
    </Figure>
  );
}
