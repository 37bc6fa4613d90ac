import { Figure } from "./figure.tsx";
import { corners } from "./scale.ts";

/** A share of 0 to 1 in one direction; null without evidence. */
export interface Axis {
  name: string;
  value: number | null;
}

const SIZE = { width: 360, height: 250 };
const CENTER = { x: 180, y: 125 };
const RADIUS = 92;
const LABEL_AT = 1.13;
const RINGS = [0.25, 0.5, 0.75, 1];

const shown = (value: number | null): string => (value === null ? "no evidence" : `${Math.round(100 * value)}%`);

/** The point of a direction at a share of the radius, the first direction upwards. */
function at(index: number, count: number, share: number): [number, number] {
  const angle = (2 * Math.PI * index) / count - Math.PI / 2;
  const round = (value: number) => Math.round(value * 10) / 10;
  return [round(CENTER.x + RADIUS * share * Math.cos(angle)), round(CENTER.y + RADIUS * share * Math.sin(angle))];
}

/** How a label stands beside its point: it must not run into the figure. */
function anchor(x: number): "start" | "middle" | "end" {
  if (Math.abs(x - CENTER.x) < 1) return "middle";
  return x > CENTER.x ? "start" : "end";
}

/** Shares in several directions as an area. A direction without evidence has no corner. */
export function RadarChart({ title, axes }: { title: string; axes: readonly Axis[] }) {
  const known = axes.flatMap(({ value }, index) => (value === null ? [] : [at(index, axes.length, value)]));
  return (
    <Figure title={title} heads={["Axis", "Value"]} rows={axes.map(({ name, value }) => [name, shown(value)])} open>
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label={axes.map(({ name, value }) => `${name} ${shown(value)}`).join(", ")}
      >
        {RINGS.map((ring) => (
          <polygon class="axis" points={corners(axes.map((_axis, index) => at(index, axes.length, ring)))} />
        ))}
        {axes.map(({ name }, index) => {
          const [[x, y], [labelX, labelY]] = [at(index, axes.length, 1), at(index, axes.length, LABEL_AT)];
          return (
            <>
              <line class="axis" x1={CENTER.x} y1={CENTER.y} x2={x} y2={y} />
              <text x={labelX} y={labelY + 4} text-anchor={anchor(labelX)}>
                {name}
              </text>
            </>
          );
        })}
        <polygon class="web" points={corners(known)} />
        {known.map(([x, y]) => (
          <circle class="dot" cx={x} cy={y} r="3" />
        ))}
      </svg>
    </Figure>
  );
}
