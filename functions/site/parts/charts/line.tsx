import { Figure } from "./figure.tsx";
import { bounds, corners, scale } from "./scale.ts";

/** A score on a day with the interval that it lies in, 0 to 100. */
export interface Point {
  day: string;
  value: number;
  low: number;
  high: number;
  /** What sets it apart from the others, in a word. */
  aside?: string;
}

const SIZE = { width: 360, height: 180 };
const PLOT = { left: 34, right: 350, top: 10, bottom: 156 };
const STEP = 10;

/** A score over days, oldest first, as a line within the band of its intervals. Null without a point. */
export function LineChart({ title, points }: { title: string; points: readonly Point[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [least, most] = bounds(
    points.flatMap(({ low, high }) => [low, high]),
    STEP,
    0,
    100,
  );
  const time = ({ day }: Point) => Date.parse(day);
  const x = scale([time(first), time(last)], [PLOT.left, PLOT.right]);
  const y = scale([least, most], [PLOT.bottom, PLOT.top]);
  const band = [
    ...points.map((point) => [x(time(point)), y(point.high)] as const),
    ...points.toReversed().map((point) => [x(time(point)), y(point.low)] as const),
  ];
  const says = `From ${first.value.toFixed(1)} on ${first.day} to ${last.value.toFixed(1)} on ${last.day}`;
  const asides = [...new Set(points.flatMap(({ aside }) => aside ?? []))];
  return (
    <Figure
      title={title}
      heads={["Day", "Score", "From", "To"]}
      rows={points
        .toReversed()
        .map(({ day, value, low, high, aside }) => [
          aside === undefined ? day : `${day} (${aside})`,
          ...[value, low, high].map((one) => one.toFixed(2)),
        ])}
    >
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={asides.length === 0 ? says : `${says}; in part ${asides.join(" and ")}`}
      >
        {[least, (least + most) / 2, most].map((mark) => (
          <>
            <line class="axis" x1={PLOT.left} x2={PLOT.right} y1={y(mark)} y2={y(mark)} />
            <text x={PLOT.left - 6} y={y(mark) + 4} text-anchor="end">
              {mark}
            </text>
          </>
        ))}
        <polygon class="band" points={corners(band)} />
        <polyline class="line" points={corners(points.map((point) => [x(time(point)), y(point.value)]))} />
        {points.map((point) => (
          <circle
            class={point.aside === undefined ? "dot" : "dot off"}
            cx={x(time(point))}
            cy={y(point.value)}
            r="2.5"
          />
        ))}
        {points.length === 1 ? (
          <>
            <line class="line" x1={x(time(last))} x2={x(time(last))} y1={y(last.low)} y2={y(last.high)} />
            <text x={x(time(last))} y={SIZE.height - 6} text-anchor="middle">
              {last.day}
            </text>
          </>
        ) : (
          <>
            <text x={PLOT.left} y={SIZE.height - 6}>
              {first.day}
            </text>
            <text x={PLOT.right} y={SIZE.height - 6} text-anchor="end">
              {last.day}
            </text>
          </>
        )}
      </svg>
      {asides.length > 0 && <p class="mute">○ {asides.join(" or ")}</p>}
    </Figure>
  );
}
