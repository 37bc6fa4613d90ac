import { filled, type LayerSpan, mergeLayers } from "./layers.ts";
import type { Span as KeptSpan } from "./span.ts";

/** What is looked at of a kept span, to tell who called what at which cost. */
export type Span = LayerSpan & Pick<KeptSpan, "parent_span_id" | "kind" | "name">;

/** A call: the names of the caller and of what it called. */
export type Edge = readonly [from: string, to: string];

/** What the spans of one run show. */
export interface Trace<S extends Span = Span> {
  /** One span for each call of a model, failed ones among them. */
  modelCalls: S[];
  /** One span for each call of a tool. */
  toolCalls: S[];
  /** One edge for each call of a model, a tool or an agent whose caller is known. */
  edges: Edge[];
}

/** The name of an agent itself: the caller of calls that no span of the agent encloses. */
export const ROOT = "agent";

/**
 * Reads the spans of one run, in any order. The caller of a span is the nearest enclosing one that is a named model, tool
 * or agent, or ROOT where none is; where a span on the way there is missing, the caller is unknown. A model span around
 * another one, or a tool span around one of the same name, is the same call seen by an outer layer and is left out, but for
 * what the inner one does not say; so is what a second instrumentation says of a call beside the first (`mergeLayers`).
 */
export function readTrace<S extends Span>(runId: string, sent: readonly S[]): Trace<S> {
  const layer = finder(runId, sent)(({ kind }) => kind !== "other");
  const layers = Map.groupBy(
    sent.map((span) => ({ around: layer(span), span })).filter(isLayered),
    ({ around }) => around,
  );
  const spans = withLayers(sent, layers);
  const outer = new Set([...layers.keys()].map(({ span_id }) => span_id));
  const innermost = spans.filter(({ span_id }) => !outer.has(span_id));
  const { told, absorbed } = mergeLayers(innermost.filter(({ kind }) => kind === "model"));
  const calls = innermost.filter((span) => !absorbed.has(span));
  const as = (span: S): S => told.get(span) ?? span;
  const isNamed = (span: S) => !outer.has(span.span_id) && !absorbed.has(span) && nodeName(span) !== null;
  const caller = finder(runId, spans)(isNamed);
  return {
    modelCalls: calls.filter(({ kind }) => kind === "model").map(as),
    toolCalls: calls.filter(({ kind }) => kind === "tool"),
    edges: calls.flatMap((span): Edge[] => {
      const [from, to] = [caller(span), nodeName(as(span))];
      const name = from === ROOT || from === null ? from : nodeName(as(from));
      return name === null || to === null ? [] : [[name, to]];
    }),
  };
}

/** What a span stands for in an architecture: `provider/model`, the tool, the agent; null for anything without a name. */
export function nodeName({ kind, name, provider, model }: Pick<Span, "kind" | "name" | "provider" | "model">) {
  if (kind === "other") return null;
  if (kind !== "model") return name;
  return model === null || provider === null ? model : `${provider}/${model}`;
}

/** A span, and the one around it that tells of the same call. */
interface Layered<S extends Span> {
  around: S;
  span: S;
}

function isLayered<S extends Span>(pair: { around: Enclosing<S>; span: S }): pair is Layered<S> {
  const { around, span } = pair;
  if (around === ROOT || around === null || around.kind !== span.kind) return false;
  return span.kind === "model" || (span.kind === "tool" && around.name === span.name);
}

/** The spans, each with what it leaves out from the outer layers of its call; one around several sums them up. */
function withLayers<S extends Span>(spans: readonly S[], layers: ReadonlyMap<S, readonly Layered<S>[]>): S[] {
  const onlyOne = [...layers.values()].flatMap((within) => (within.length === 1 ? within : []));
  const aroundOf = new Map(onlyOne.map(({ around, span }) => [span, around]));
  return spans.map((span) => {
    if (span.kind !== "model" || layers.has(span)) return span;
    let whole = span;
    // A circle of parents can't be entered: the span where it is would enclose two.
    for (let around = aroundOf.get(span); around !== undefined; around = aroundOf.get(around)) {
      whole = filled(whole, around);
    }
    return whole;
  });
}

/** The span around another, the agent itself, or null where the trace has a gap. */
type Enclosing<S extends Span> = S | typeof ROOT | null;

/** Finders of the nearest enclosing span that is `kept`; linear in the spans, whatever circles their parents form. */
function finder<S extends Span>(runId: string, spans: readonly S[]) {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  // What `traceparent` gave the agent as the parent of all it does.
  const sent = runId.replaceAll("-", "").slice(16);
  const parentOf = ({ parent_span_id: id }: S): Enclosing<S> =>
    id === null || id === sent ? ROOT : (byId.get(id) ?? null);
  return (kept: (span: S) => boolean) => {
    const found = new Map<S, Enclosing<S>>();
    return (span: S): Enclosing<S> => {
      const passed: S[] = [];
      let result = found.get(span);
      for (let at = span; result === undefined; ) {
        passed.push(at);
        // A cycle of parents leads back here without a result.
        found.set(at, null);
        const parent = parentOf(at);
        if (parent === null || parent === ROOT || kept(parent)) {
          result = parent;
        } else {
          at = parent;
          result = found.get(at);
        }
      }
      for (const one of passed) found.set(one, result);
      return result;
    };
  };
}
