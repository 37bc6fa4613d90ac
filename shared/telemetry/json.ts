import { type AttributeValue, MEANINGS } from "./conventions.ts";
import { MAX_SENT_SPANS, STATUS_ERROR } from "./protobuf.ts";
import { scopeOf, type SentAttribute, type SentSpan } from "./span.ts";

const MAX_UINT64 = 2n ** 64n - 1n;

/** More objects and lists than a body of the greatest length has room for, if all are of well-formed spans. */
const MAX_VALUES = 500_000;
const [BRACE, BRACKET] = [0x7b, 0x5b];

/**
 * The spans of an ExportTraceServiceRequest in OTLP's JSON encoding: ids in hexadecimal, 64-bit integers as text or
 * numbers, enums as numbers, unknown members ignored. Throws a SyntaxError for text that is not JSON, and a TypeError where
 * requests, resources, scopes and spans are not nested as they should be, or are too many. It never goes deeper than a
 * span's attributes.
 */
export function decodeJson(bytes: Uint8Array): SentSpan[] {
  // Before they are read: an empty one takes three bytes here, and twenty times as much in memory.
  if (valuesIn(bytes) > MAX_VALUES) throw new TypeError("there are too many objects and lists");
  const request = members(JSON.parse(new TextDecoder().decode(bytes)));
  const scopes = list(request["resourceSpans"])
    .flatMap((resource) => list(members(resource)["scopeSpans"]))
    .map(members);
  const sent = scopes.reduce((sum, { spans }) => sum + list(spans).length, 0);
  if (sent > MAX_SENT_SPANS) throw new TypeError("there are too many spans");
  return scopes.flatMap(readScopeSpans);
}

/** How many objects and lists a text in JSON has at most; what only looks like one, within a text of its, counts, too. */
function valuesIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === BRACE || byte === BRACKET) count += 1;
  return count;
}

/** The spans of one instrumentation, whose name is digested only where there are any. */
function readScopeSpans(scopeSpans: Members): SentSpan[] {
  const spans = list(scopeSpans["spans"]);
  if (spans.length === 0) return [];
  const { scope } = scopeSpans;
  const name = isMembers(scope) ? scope["name"] : undefined;
  const digest = scopeOf(text(name));
  return spans.map((span) => readSpan(members(span), digest));
}

type Members = Record<string, unknown>;

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function members(value: unknown): Members {
  if (!isMembers(value)) throw new TypeError("an object is expected");
  return value;
}

/** An array; a member that is missing or null has none, as everywhere in proto3's JSON. */
function list(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError("an array is expected");
  return value;
}

function readSpan(span: Members, scope: string): SentSpan {
  const start = nanoseconds(span["startTimeUnixNano"]);
  return {
    traceId: text(span["traceId"]).toLowerCase(),
    spanId: text(span["spanId"]).toLowerCase(),
    parentSpanId: text(span["parentSpanId"]).toLowerCase(),
    name: text(span["name"]),
    scope,
    start: Number(start),
    elapsed: Number(nanoseconds(span["endTimeUnixNano"]) - start),
    failed: members(span["status"] ?? {})["code"] === STATUS_ERROR,
    attributes: list(span["attributes"]).flatMap((attribute) => readAttribute(members(attribute))),
  };
}

function readAttribute({ key, value }: Members): SentAttribute[] {
  const meaning = typeof key === "string" ? MEANINGS.get(key) : undefined;
  if (meaning === undefined) return [];
  const read = readValue(members(value ?? {}));
  return read === null ? [] : [{ meaning, value: read }];
}

/** An `AnyValue`; null for every type but text and numbers. */
function readValue({ stringValue, intValue, doubleValue }: Members): AttributeValue | null {
  if (typeof stringValue === "string") return stringValue;
  const number = intValue ?? doubleValue;
  if (typeof number === "number") return number;
  return typeof number === "string" && /^\S+$/.test(number) ? Number(number) : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A `fixed64`; 0 for anything else. */
function nanoseconds(value: unknown): bigint {
  const nanos = wholeNumber(value);
  return nanos >= 0n && nanos <= MAX_UINT64 ? nanos : 0n;
}

/** A number without a fraction, or a text of up to 20 digits; 0 for anything else. */
function wholeNumber(value: unknown): bigint {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : 0n;
  return typeof value === "string" && /^\d{1,20}$/.test(value) ? BigInt(value) : 0n;
}
