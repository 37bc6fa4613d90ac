import { sha256 } from "../platform/crypto.ts";
import { MAX_COST_USD, MAX_TOKENS } from "../scoring/cost.ts";
import { modelPart } from "../scoring/model-name.ts";
import { type AttributeValue, kindOf, type Meaning, type SpanKind } from "./conventions.ts";

/** An attribute that is kept, as it was decoded. */
export interface SentAttribute {
  meaning: Meaning;
  value: AttributeValue;
}

/** A span as it was decoded. Ids are in lower case, but not yet checked to be hexadecimal. */
export interface SentSpan {
  traceId: string;
  spanId: string;
  /** Empty for a root. */
  parentSpanId: string;
  name: string;
  /** The instrumentation that made it, as `scopeOf` has it. */
  scope: string;
  /** Nanoseconds since the epoch, to the precision of a number; 0 where no valid time was sent. */
  start: number;
  /** Nanoseconds from start to end, exact up to 104 days; negative for an end before the start. */
  elapsed: number;
  /** Whether its status is ERROR. */
  failed: boolean;
  /** Those that are kept. */
  attributes: readonly SentAttribute[];
}

/** What is kept of a span: a row of `spans`, but for the agent and the time of its receipt. */
export interface Span {
  /** The trace id, 32 hexadecimal digits: a run's id without its dashes. */
  run_id: string;
  span_id: string;
  parent_span_id: string | null;
  kind: SpanKind;
  /** The instrumentation that made it, as a digest; null where it did not say. */
  scope: string | null;
  operation: string | null;
  name: string;
  provider: string | null;
  model: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** US dollars, 0 to 1,000,000. */
  cost_usd: number | null;
  failed: boolean;
  /** Seconds since the epoch. */
  started_at: number;
  duration_ms: number;
}

/**
 * What is kept of the name of an instrumentation scope: as much as tells two of them apart, and nothing that could be
 * read. Empty for no name.
 */
export const scopeOf = (name: string): string => (name === "" ? "" : sha256(name).slice(0, 8));

/** A text that is kept as it is; most texts are like that. */
const PLAIN = /^[!-~](?:[ -~]{0,118}[!-~])?$/;

/** The part of a text that is kept, in whole characters. */
const BEGINNING = /^.{1,120}/su;

/** Whether a text is an id of so many hexadecimal digits; zeros alone are not an id (W3C Trace Context). */
function isHexId(text: string, digits: number): boolean {
  return text.length === digits && /^(?!0+$)[0-9a-f]+$/.test(text);
}

/**
 * Brings a span to the form in which it is kept: names of all conventions to one, texts without control characters and
 * at most 120 characters long, impossible counts and costs as null. Null for a malformed span: one with an id of the wrong
 * length or of zeros alone, without a start, or with an end before its start.
 */
export function normalise(sent: SentSpan): Span | null {
  const { traceId, spanId, parentSpanId, start, elapsed } = sent;
  if (!isHexId(traceId, 32) || !isHexId(spanId, 16) || start === 0 || elapsed < 0) return null;
  const root = parentSpanId === "" || parentSpanId === "0".repeat(16);
  if (!root && !isHexId(parentSpanId, 16)) return null;

  const said = understand(sent.attributes);
  const { operation, model, inputTokens, outputTokens } = said;
  // Tokens by names as plain as Claude Code's may stand on any span: they alone make none a call.
  const kind = kindOf({ ...said, name: sent.name, tokens: inputTokens !== null || outputTokens !== null });
  const own = kind === "tool" || kind === "agent" ? (said[kind] ?? said.entity) : null;
  return {
    run_id: traceId,
    span_id: spanId,
    parent_span_id: root ? null : parentSpanId,
    kind,
    scope: sent.scope === "" ? null : sent.scope,
    operation,
    name: own ?? label(sent.name) ?? kind,
    provider: said.provider,
    model,
    input_tokens: inputTokens ?? readTokens(said),
    output_tokens: outputTokens ?? said.writtenTokens,
    cost_usd: said.cost,
    failed: sent.failed || said.error !== null,
    started_at: start / 1e9,
    duration_ms: elapsed / 1e6,
  };
}

type NumberField = "cost" | `${string}Tokens`;

/** What the attributes of a span say; null where none that can be used says it. */
type Said = { [Field in Meaning["field"]]: (Field extends NumberField ? number : string) | null };

const READERS: { readonly [Field in keyof Said]: (value: AttributeValue) => Said[Field] } = {
  operation: label,
  role: label,
  provider: label,
  model: modelName,
  tool: label,
  agent: label,
  entity: label,
  error: label,
  inputTokens: count,
  outputTokens: count,
  writtenTokens: count,
  uncachedTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cost,
};

/** What a model read, told in parts. */
function readTokens({ uncachedTokens, cacheReadTokens, cacheWriteTokens }: Said): number | null {
  return uncachedTokens === null ? null : count(uncachedTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0));
}

/** What attributes say: for each field the preferred one of the values that can be used. */
function understand(attributes: readonly SentAttribute[]): Said {
  const said: Said = {
    operation: null,
    role: null,
    provider: null,
    model: null,
    tool: null,
    agent: null,
    entity: null,
    error: null,
    inputTokens: null,
    outputTokens: null,
    writtenTokens: null,
    uncachedTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    cost: null,
  };
  const ranks: Partial<Record<keyof Said, number>> = {};
  for (const { meaning, value } of attributes) {
    const { field, rank } = meaning;
    const best = ranks[field];
    if (best !== undefined && best <= rank) continue;
    if (take(said, field, value)) ranks[field] = rank;
  }
  return said;
}

/** Keeps a value, if it can be used for that field; returns whether it did. */
function take<Field extends keyof Said>(said: Pick<Said, Field>, field: Field, value: AttributeValue): boolean {
  const usable = READERS[field](value);
  if (usable === null) return false;
  said[field] = usable;
  return true;
}

/** A text without control characters, cut between characters; null for an empty one and for a number. */
function label(value: AttributeValue): string | null {
  if (typeof value !== "string") return null;
  if (PLAIN.test(value)) return value;
  const text = value
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .toWellFormed();
  return BEGINNING.exec(text)?.[0] ?? null;
}

/** A model's name; Micrometer says `none` for one that is not known. A blueprint, where it is shown, may be public. */
function modelName(value: AttributeValue): string | null {
  return typeof value !== "string" || value === "none" ? null : label(modelPart(value));
}

/** A count; Micrometer, and so Spring AI, sends every value as text. */
function count(value: AttributeValue): number | null {
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= MAX_TOKENS ? number : null;
}

/** To a millionth of a millionth, as costs are summed up: PostgreSQL writes all zeros of a smaller one, 300 and more, in JSON. */
function cost(value: AttributeValue): number | null {
  return typeof value === "number" && value >= 0 && value <= MAX_COST_USD ? Number(value.toFixed(12)) : null;
}
