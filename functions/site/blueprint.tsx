import type * as z from "zod";
import type { BlueprintRead } from "../../shared/results/blueprint.ts";
import type { BlueprintTimelineRead } from "../../shared/results/timeline.ts";
import { ROOT } from "../../shared/telemetry/trace.ts";
import { BOX, type Box, draw } from "./graph.ts";
import { Day, percent } from "./layout.tsx";
import { counted } from "./parts/in-words.ts";

type Shown = z.input<typeof BlueprintRead>;
type Version = z.input<typeof BlueprintTimelineRead>["items"][number];

const MAX_LABEL = 24;
const MAX_ROWS = 20;
const MAX_VERSIONS = 10;
const MAX_NAMES = 6;

/** A name cut to what a box holds. */
function label(name: string): string {
  const characters = Array.from(name);
  return characters.length <= MAX_LABEL ? name : `${characters.slice(0, MAX_LABEL - 1).join("")}…`;
}

/** What a name of an edge stands for, and how often it was called. */
function kindsOf({ models, tools }: Shown): Map<string, string> {
  const kinds = new Map<string, string>([[ROOT, "the agent itself"]]);
  for (const { name, calls } of tools) kinds.set(name, `tool, ${counted(calls, "call")}`);
  for (const { name, provider, calls } of models) {
    kinds.set(provider === null ? name : `${provider}/${name}`, `model, ${counted(calls, "call")}`);
  }
  return kinds;
}

function Node({ box, kind }: { box: Box; kind: string }) {
  return (
    <g class={`box ${kind.split(",")[0] === "model" ? "model" : ""}`}>
      <title>{`${box.name}: ${kind}`}</title>
      <rect x={box.x} y={box.y} width={BOX.width} height={BOX.height} rx="6" />
      <text x={box.x + 10} y={box.y + 19}>
        {label(box.name)}
      </text>
      <text class="kind" x={box.x + 10} y={box.y + 36}>
        {kind}
      </text>
    </g>
  );
}

/** The call graph as a picture; the tables beside it tell the same in words. */
function Graph({ blueprint }: { blueprint: Shown }) {
  const { width, height, boxes, arrows, omitted } = draw(ROOT, blueprint.edges);
  const kinds = kindsOf(blueprint);
  return (
    <>
      <div class="scroll" role="region" aria-label="Call graph" tabindex={0}>
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Call graph of ${counted(boxes.length, "part")}; the table of calls lists ${counted(arrows.length, "arrow")}`}
        >
          <defs>
            <marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
              <path class="head" d="M0,0 L8,4 L0,8 z" />
            </marker>
          </defs>
          {arrows.map(({ from, to, count, path }) => (
            <path class="arrow" d={path} marker-end="url(#head)">
              <title>{`${from} called ${to}: ${count}`}</title>
            </path>
          ))}
          {boxes.map((box) => (
            <Node box={box} kind={kinds.get(box.name) ?? "agent"} />
          ))}
        </svg>
      </div>
      {omitted > 0 && <p class="mute">Not drawn: {counted(omitted, "less frequent call")}.</p>}
    </>
  );
}

/** What the agent is made of, by the telemetry of its recent runs: of public ones alone, unless it is shown to its owner. */
export function Blueprint({ blueprint, own }: { blueprint: Shown; own: boolean }) {
  return (
    <>
      <h2>Blueprint</h2>
      <p class="mute">
        From the telemetry of {blueprint.telemetry_runs} of its{" "}
        {counted(blueprint.run_count, own ? "most recent run" : "most recent public run")}
        {own ? ", private ones among them" : ""}, {blueprint.mean_spans_per_run.toFixed(1)} spans a run.
      </p>
      {blueprint.edges.length > 0 && <Graph blueprint={blueprint} />}
      <Table
        caption="Calls"
        heads={["Caller", "Called"]}
        numbers={["Times"]}
        rows={blueprint.edges.map(({ from, to, count }) => [from, to, count])}
      />
      <Table
        caption="Models"
        heads={["Model", "Provider"]}
        numbers={["Calls", "Input tokens", "Output tokens"]}
        rows={blueprint.models.map((model) => [
          model.name,
          model.provider ?? "–",
          model.calls,
          model.input_tokens,
          model.output_tokens,
        ])}
      />
      <Table
        caption="Tools"
        heads={["Tool"]}
        numbers={["Calls", "Errors", "Mean duration"]}
        rows={blueprint.tools.map((tool) => [
          tool.name,
          tool.calls,
          percent(tool.error_rate),
          `${Math.round(tool.mean_duration_ms)} ms`,
        ])}
      />
    </>
  );
}

interface TableProps {
  caption: string;
  heads: string[];
  /** The columns of numbers, after the others. */
  numbers: string[];
  rows: (string | number)[][];
}

function Table({ caption, heads, numbers, rows }: TableProps) {
  if (rows.length === 0) return null;
  const more = rows.length - MAX_ROWS;
  return (
    <div class="scroll" role="region" aria-label={caption} tabindex={0}>
      <table>
        <caption>
          {caption}
          {more > 0 && `; ${counted(more, "less frequent one")} left out`}
        </caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
            {numbers.map((head) => (
              <th scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row) => (
            <tr>
              {row.map((cell, index) => (
                <td class={index < heads.length ? "wide" : "number"}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Change({ sign, what, names }: { sign: string; what: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  const more = names.length - MAX_NAMES;
  return (
    <div>
      {sign} {what}: {names.slice(0, MAX_NAMES).join(", ")}
      {more > 0 && ` and ${more} more`}
    </div>
  );
}

/** The versions that public runs were bound to, newest first. */
export function Timeline({ items }: { items: readonly Version[] }) {
  return (
    <>
      <h2>Versions</h2>
      <div class="scroll" role="region" aria-label="Versions" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Seen</th>
              <th scope="col" class="number">
                Runs
              </th>
              <th scope="col" class="number">
                Passed
              </th>
              <th scope="col">Changes</th>
            </tr>
          </thead>
          <tbody>
            {items.slice(0, MAX_VERSIONS).map((item) => (
              <tr>
                <th scope="row">
                  {item.version} <code class="mute">{item.architecture_hash.slice(0, 8)}</code>
                </th>
                <td>
                  <Day time={item.first_seen_at} /> to <Day time={item.last_seen_at} />
                </td>
                <td class="number">{item.run_count}</td>
                <td class="number">{percent(item.pass_rate)}</td>
                <td class="wide">
                  <Change sign="+" what="models" names={item.changes.models_added} />
                  <Change sign="−" what="models" names={item.changes.models_removed} />
                  <Change sign="+" what="tools" names={item.changes.tools_added} />
                  <Change sign="−" what="tools" names={item.changes.tools_removed} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
