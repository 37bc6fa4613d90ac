import type { Span as KeptSpan } from "./span.ts";

/** What tells whether two spans are one call, and what they say of it. */
export type LayerSpan = Pick<
  KeptSpan,
  | "span_id"
  | "scope"
  | "provider"
  | "model"
  | "input_tokens"
  | "output_tokens"
  | "cost_usd"
  | "started_at"
  | "duration_ms"
>;

/** By how much the clocks of two instrumentations may differ, in seconds: some count in whole milliseconds. */
const SLACK = 0.005;

/** With how many calls that are under way a span is compared, the newest ones: else the time would grow with the square. */
const MAX_UNDER_WAY = 256;

/** A call that was seen, with the instrumentations that saw it. */
interface Seen<S extends LayerSpan> {
  span: S;
  scopes: Set<string>;
  told: S;
}

/**
 * The calls of models that several instrumentations saw beside each other, each told once: a framework's callbacks enclose
 * nothing, so what the client's instrumentation says of the same call stands next to them, not inside. Two spans are one
 * call where different instrumentations made them, the one began while the other was under way, and neither says
 * something else of model and tokens. The one that began first is kept, with what it leaves out filled in.
 */
export function mergeLayers<S extends LayerSpan>(calls: readonly S[]): { told: Map<S, S>; absorbed: Set<S> } {
  const seen: Seen<S>[] = [];
  const absorbed = new Set<S>();
  let underWay: Seen<S>[] = [];
  for (const span of inOrder(calls)) {
    const { scope } = span;
    if (scope === null) continue;
    underWay = underWay
      .filter(({ told }) => span.started_at <= told.started_at + told.duration_ms / 1000 + SLACK)
      .slice(-MAX_UNDER_WAY);
    const isSame = ({ scopes, told }: Seen<S>) => !scopes.has(scope) && agree(told, span);
    const same =
      underWay.find((one) => isSame(one) && saysTokens(one.told) === saysTokens(span)) ?? underWay.find(isSame);
    if (same === undefined) {
      const one = { span, scopes: new Set([scope]), told: span };
      seen.push(one);
      underWay.push(one);
    } else {
      same.scopes.add(scope);
      same.told = filled(same.told, span);
      absorbed.add(span);
    }
  }
  return { told: new Map(seen.map(({ span, told }) => [span, told])), absorbed };
}

/** By their start, the longer one first: a layer that encloses another began no later. */
function inOrder<S extends LayerSpan>(calls: readonly S[]): S[] {
  return calls.toSorted(
    (a, b) => a.started_at - b.started_at || b.duration_ms - a.duration_ms || (a.span_id < b.span_id ? -1 : 1),
  );
}

/** Whether two spans may tell of one call. A model is asked for by a name that the one which answers only adds to. */
function agree(a: LayerSpan, b: LayerSpan): boolean {
  const isModel = a.model === null || b.model === null || a.model.startsWith(b.model) || b.model.startsWith(a.model);
  return isModel && mayBe(a.input_tokens, b.input_tokens) && mayBe(a.output_tokens, b.output_tokens);
}

function mayBe(a: number | null, b: number | null): boolean {
  return a === null || b === null || a === b;
}

function saysTokens({ input_tokens, output_tokens }: LayerSpan): boolean {
  return input_tokens !== null || output_tokens !== null;
}

function filled<S extends LayerSpan>(kept: S, from: LayerSpan): S {
  return {
    ...kept,
    provider: kept.provider ?? from.provider,
    model: kept.model ?? from.model,
    input_tokens: kept.input_tokens ?? from.input_tokens,
    output_tokens: kept.output_tokens ?? from.output_tokens,
    cost_usd: kept.cost_usd ?? from.cost_usd,
  };
}
