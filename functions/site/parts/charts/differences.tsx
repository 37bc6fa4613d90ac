import { Scroll } from "../notice.tsx";
import { scale } from "./scale.ts";

/** A difference of two pass rates (-1 to 1; null without a task in common), its 95% interval, and how likely it is chance. */
export interface Difference {
  a: string;
  b: string;
  tasks: number;
  value: number | null;
  low: number;
  high: number;
  p: number;
}

const WIDTH = 200;
const HEIGHT = 18;
/** Below it a difference counts as told apart from chance. */
const SURE = 0.05;

const points = (value: number): string => `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)}`;

function Drawn({ value, low, high }: { value: number; low: number; high: number }) {
  const x = scale([-1, 1], [2, WIDTH - 2]);
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${points(low)} to ${points(high)} points`}
    >
      <rect class="track" width={WIDTH} height={HEIGHT} rx="3" />
      <line class="zero" x1={x(0)} x2={x(0)} y1="0" y2={HEIGHT} />
      <rect class="range" x={x(low)} y="5" width={Math.max(2, x(high) - x(low))} height="8" rx="2" />
      <rect class="value" x={x(value) - 1.5} y="2" width="3" height={HEIGHT - 4} />
    </svg>
  );
}

/** Who passes more than whom, pair by pair over the same tasks, each drawn about the line of no difference. */
export function Differences({ title, differences }: { title: string; differences: readonly Difference[] }) {
  return (
    <Scroll label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th class="wide">Pair</th>
            <th class="number">Points</th>
            <th>95% interval, from -100 to +100</th>
            <th class="number">p, adjusted</th>
            <th class="wide">So</th>
            <th class="number">Tasks</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ a, b, tasks, value, low, high, p }) => (
            <tr>
              <td class="wide">
                <bdi>{a}</bdi> against <bdi>{b}</bdi>
              </td>
              <td class="number">{value === null ? "–" : points(value)}</td>
              <td>{value === null ? "no task in common" : <Drawn value={value} low={low} high={high} />}</td>
              <td class="number">{value === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3)}</td>
              <td class="wide">
                {value === null || p >= SURE || value === 0 ? (
                  "can't be told apart"
                ) : (
                  <>
                    <bdi>{value > 0 ? a : b}</bdi> passes more
                  </>
                )}
              </td>
              <td class="number">{tasks}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
