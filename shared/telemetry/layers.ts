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
 * something else of model and tokens. The one that began first is kept, with what it leaves out filled in. Those that both
 * tell of tokens, or both do not, are brought together first: of two tries that a framework tells as one call, the one that
 * failed has none.
 */
export function mergeLayers<S extends LayerSpan>(calls: readonly S[]): { told: Map<S, S>; absorbed: Set<S> } {
  const all = inOrder(calls).flatMap((span): Seen<S>[] =>
    span.scope === null ? [] : [{ span, scopes: new Set([span.scope]), told: span }],
  );
  const alike = merged(all, (a, b) => saysTokens(a) === saysTokens(b) && agree(a, b));
  const seen = merged(alike, agree);
  const kept = new Set(seen.map(({ span }) => span));
  return {
    told: new Map(seen.map(({ span, told }) => [span, told])),
    absorbed: new Set(all.map(({ span }) => span).filter((span) => !kept.has(span))),
  };
}

/** `all`, by their start, with each that is the same as an earlier one, which no instrumentation of its own saw, in that. */
function merged<S extends LayerSpan>(all: readonly Seen<S>[], isSame: (a: S, b: S) => boolean): Seen<S>[] {
  const seen: Seen<S>[] = [];
  let underWay: Seen<S>[] = [];
  for (const one of all) {
    underWay = underWay
      .filter(({ told }) => one.told.started_at <= told.started_at + told.duration_ms / 1000 + SLACK)
      .slice(-MAX_UNDER_WAY);
    const same = underWay.find(({ scopes, told }) => scopes.isDisjointFrom(one.scopes) && isSame(told, one.told));
    if (same === undefined) {
      seen.push(one);
      underWay.push(one);
    } else {
      same.scopes = same.scopes.union(one.scopes);
      same.told = filled(same.told, one.told);
    }
  }
  return seen;
}

/** By their start, the longer one first: a layer that encloses another began no later. */
function inOrder<S extends LayerSpan>(calls: readonly S[]): S[] {
  return calls.toSorted(
    (a, b) => a.started_at - b.started_at || b.duration_ms - a.duration_ms || (a.span_id < b.span_id ? -1 : 1),
  );
}

/** What the model which answers adds to the name that it was asked for by: not "-mini", which is another one. */
const RELEASE = /^(?:[-@:](?:v\d|\d{3}|\d\d-\d\d)[\w.:-]*)?$/;
/** Whoever asks for this is answered by a release. */
const LATEST = /[-@:]latest$/;

/** Whether two spans may tell of one call. */
function agree(a: LayerSpan, b: LayerSpan): boolean {
  return (
    isSameModel(a.model, b.model) && mayBe(a.input_tokens, b.input_tokens) && mayBe(a.output_tokens, b.output_tokens)
  );
}

function isSameModel(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return true;
  const [short = "", long = ""] = [a, b]
    .map((name) => name.replace(LATEST, ""))
    .toSorted((x, y) => x.length - y.length);
  return long.startsWith(short) && RELEASE.test(long.slice(short.length));
}

function mayBe(a: number | null, b: number | null): boolean {
  return a === null || b === null || a === b;
}

function saysTokens({ input_tokens, output_tokens }: LayerSpan): boolean {
  return input_tokens !== null || output_tokens !== null;
}

/** A span, with what it leaves out as another one of the same call says it. */
export function filled<S extends LayerSpan>(kept: S, from: LayerSpan): S {
  return {
    ...kept,
    provider: kept.provider ?? from.provider,
    model: kept.model ?? from.model,
    input_tokens: kept.input_tokens ?? from.input_tokens,
    output_tokens: kept.output_tokens ?? from.output_tokens,
    cost_usd: kept.cost_usd ?? from.cost_usd,
  };
}
