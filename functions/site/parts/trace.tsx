import type * as z from "zod";
import type { RunSpans } from "../../../shared/results/spans.ts";
import { costInWords } from "./in-words.ts";
import { Table } from "./notice.tsx";
import { Timeline } from "./timeline.tsx";

type Span = z.output<typeof RunSpans>["items"][number];

/** So many spans are drawn and listed; the endpoint has all of them. */
const SHOWN = 100;
/** Deeper ones would leave no room for their names. */
const DEEPEST = 6;
const NAME = 24;

const nameOf = ({ name, kind, model }: Span): string => (kind === "model" ? (model ?? name) : name);
const cut = (name: string): string => (name.length > NAME ? `${name.slice(0, NAME - 1)}…` : name);

/** How many of these spans are around each; a circle of parents, or one that is missing, ends the count. */
function depthsOf(items: readonly Span[]): Map<string, number> {
  const byId = new Map(items.map((span) => [span.span_id, span]));
  const depths = new Map<string, number>();
  for (const span of items) {
    let depth = 0;
    for (let around = byId.get(span.parent_span_id ?? ""); around !== undefined && depth < DEEPEST; depth += 1)
      around = byId.get(around.parent_span_id ?? "");
    depths.set(span.span_id, depth);
  }
  return depths;
}

/** The spans of a run as a trace, and as a table behind it. */
export function Trace({ runId, items }: { runId: string; items: readonly Span[] }) {
  if (items.length === 0)
    return (
      <p>
        No spans were received, or they are older than 30 days. <a href="/docs/guides/send-telemetry">Send some</a> to
        see the calls that a run made.
      </p>
    );
  const depths = depthsOf(items);
  const shown = items.slice(0, SHOWN);
  const first = Date.parse(shown[0]?.started_at ?? "");
  const rows = shown.map((span) => {
    const from = Date.parse(span.started_at);
    const depth = depths.get(span.span_id) ?? 0;
    return { name: cut(nameOf(span)), from, to: from + span.duration_ms, depth, failed: span.failed };
  });
  return (
    <>
      {items.length > SHOWN && (
        <p>
          The first {SHOWN} of {items.length}; <a href={`/runs/${runId}/files/spans`}>all of them as JSON</a>
        </p>
      )}
      <Timeline label="The calls that it made, over time" what="span" rows={rows} />
      <details>
        <summary>Each span</summary>
        <Table
          label="Spans"
          columns={["Name", "Kind", ["After", "number"], ["Took", "number"], ["Tokens", "number"], ["Cost", "number"]]}
        >
          {shown.map((span) => (
            <tr>
              <td>
                <bdi>{nameOf(span)}</bdi>
                {span.failed && <span class="tag">failed</span>}
              </td>
              <td>{span.kind}</td>
              <td class="number">{Date.parse(span.started_at) - first} ms</td>
              <td class="number">{Math.round(span.duration_ms)} ms</td>
              <td class="number">
                {span.input_tokens === null && span.output_tokens === null
                  ? "–"
                  : `${span.input_tokens ?? 0} + ${span.output_tokens ?? 0}`}
              </td>
              <td class="number">{span.cost_usd === null ? "–" : costInWords(span.cost_usd)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
