import { Buffer } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type AttributeValue, type Meaning, MEANINGS } from "./conventions.ts";
import { scopeOf, type SentAttribute, type SentSpan } from "./span.ts";

/** `Status.StatusCode.STATUS_CODE_ERROR`. */
export const STATUS_ERROR = 2;

/** The wire types, each at its number. */
const WIRE_TYPES = [
  WireType.Varint,
  WireType.Bit64,
  WireType.LengthDelimited,
  WireType.StartGroup,
  WireType.EndGroup,
  WireType.Bit32,
] as const;

/** How a field begins on the wire: its number and the type of its value. */
const tagOf = (field: number, wire: WireType): number => (field << 3) | wire;

const RESOURCE_SPANS = tagOf(1, WireType.LengthDelimited);
/** `ResourceSpans.scope_spans`, and `ScopeSpans.spans`. */
const NESTED_SPANS = tagOf(2, WireType.LengthDelimited);
/** `ScopeSpans.scope`, and `InstrumentationScope.name`. */
const SCOPE = tagOf(1, WireType.LengthDelimited);
const TRACE_ID = tagOf(1, WireType.LengthDelimited);
const SPAN_ID = tagOf(2, WireType.LengthDelimited);
const PARENT_SPAN_ID = tagOf(4, WireType.LengthDelimited);
const NAME = tagOf(5, WireType.LengthDelimited);
const START = tagOf(7, WireType.Bit64);
const END = tagOf(8, WireType.Bit64);
const ATTRIBUTE = tagOf(9, WireType.LengthDelimited);
const STATUS = tagOf(15, WireType.LengthDelimited);
const STATUS_CODE = tagOf(3, WireType.Varint);
const KEY = tagOf(1, WireType.LengthDelimited);
const VALUE = tagOf(2, WireType.LengthDelimited);
const TEXT = tagOf(1, WireType.LengthDelimited);
const INTEGER = tagOf(3, WireType.Varint);
const DOUBLE = tagOf(4, WireType.Bit64);

/** More spans than a body of the greatest length has room for, if each is well-formed: made of fewer bytes, none is kept. */
export const MAX_SENT_SPANS = 100_000;

/** One byte more than the longest id, so that what is too long stays so. */
const MAX_ID_BYTES = 17;

/** The keys of attributes that are kept, by their length: a key is compared as it stands, and never decoded. */
const KEYS = Map.groupBy(
  MEANINGS.entries().map(([name, meaning]) => ({ name: new TextEncoder().encode(name), meaning })),
  ({ name }) => name.length,
);

/**
 * The spans of an `opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest` in protobuf's wire format.
 * Whatever is not kept is skipped on the wire, undecoded. Throws on bytes that are not such a message.
 */
export function decodeProtobuf(bytes: Uint8Array): SentSpan[] {
  const reader = new Reader(bytes);
  const spans: SentSpan[] = [];
  eachNested(reader, bytes.length, RESOURCE_SPANS, (resource) => {
    eachNested(reader, resource, NESTED_SPANS, (scope) => readScopeSpans(reader, scope, spans));
  });
  return spans;
}

/** A reader that goes over a message in place, without a view of each of its parts. */
class Reader extends BinaryReader {
  private readonly buffer: Buffer;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Where the part whose length comes next ends. */
  end(): number {
    const length = this.uint32();
    return this.pos + length;
  }

  /** Steps over the part whose length comes next, and returns its start; `assertAt` tells whether its message holds it. */
  private step(): number {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    return start;
  }

  text(): string {
    const start = this.step();
    return this.buffer.toString("utf8", start, this.pos);
  }

  /** An id in hexadecimal, cut where it is too long. */
  id(): string {
    const start = this.step();
    return this.buffer.toString("hex", start, Math.min(this.pos, start + MAX_ID_BYTES));
  }

  /** What the attribute says whose key comes next; undefined for one that is not kept. */
  meaning(): Meaning | undefined {
    const start = this.step();
    return KEYS.get(this.pos - start)?.find(({ name }) => {
      let at = name.length;
      while (at > 0 && name[at - 1] === this.buffer[start + at - 1]) at -= 1;
      return at === 0;
    })?.meaning;
  }

  /** Leaves out the field that a tag began. */
  leaveOut(tag: number): void {
    const field = tag >>> 3;
    const wire = WIRE_TYPES[tag & 7];
    if (field === 0 || wire === undefined) throw new RangeError("a tag is not valid");
    if (wire === WireType.LengthDelimited) this.step();
    else this.skip(wire, field);
  }

  /** Throws unless all of a message was read, and nothing beyond it. */
  assertAt(end: number): void {
    if (this.pos !== end) throw new RangeError("a field reaches beyond its message");
  }
}

/** Reads the messages that stand at one tag of a message that ends at `end`; `read` gets the end of each. */
function eachNested(reader: Reader, end: number, wanted: number, read: (end: number) => void): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === wanted) read(reader.end());
    else reader.leaveOut(tag);
  }
  reader.assertAt(end);
}

/** Reads the spans of one instrumentation, whose name is digested only where there are any; it may stand behind them. */
function readScopeSpans(reader: Reader, end: number, spans: SentSpan[]): void {
  const first = spans.length;
  let name = "";
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === SCOPE) name = readScope(reader, reader.end());
    else if (tag === NESTED_SPANS) {
      // An empty one takes two bytes here, and a hundred times as much in memory.
      if (spans.length === MAX_SENT_SPANS) throw new RangeError("there are too many spans");
      spans.push(readSpan(reader, reader.end()));
    } else reader.leaveOut(tag);
  }
  reader.assertAt(end);
  if (spans.length === first) return;
  const scope = scopeOf(name);
  for (const span of spans.slice(first)) span.scope = scope;
}

function readScope(reader: Reader, end: number): string {
  let name = "";
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === SCOPE) name = reader.text();
    else reader.leaveOut(tag);
  }
  reader.assertAt(end);
  return name;
}

function readSpan(reader: Reader, end: number): SentSpan {
  const attributes: SentAttribute[] = [];
  const ids = { traceId: "", spanId: "", parentSpanId: "" };
  const span = { ...ids, name: "", scope: "", start: 0, elapsed: 0, failed: false, attributes };
  let [startLow, startHigh, endLow, endHigh] = [0, 0, 0, 0];
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag) {
      case TRACE_ID:
        span.traceId = reader.id();
        break;
      case SPAN_ID:
        span.spanId = reader.id();
        break;
      case PARENT_SPAN_ID:
        span.parentSpanId = reader.id();
        break;
      case NAME:
        span.name = reader.text();
        break;
      case START:
        startLow = reader.fixed32();
        startHigh = reader.fixed32();
        break;
      case END:
        endLow = reader.fixed32();
        endHigh = reader.fixed32();
        break;
      case ATTRIBUTE:
        readAttribute(reader, reader.end(), attributes);
        break;
      case STATUS:
        span.failed = readStatus(reader, reader.end()) === STATUS_ERROR;
        break;
      default:
        reader.leaveOut(tag);
    }
  }
  reader.assertAt(end);
  // In halves: whole, a time has more digits than a number can tell apart.
  span.start = startHigh * 2 ** 32 + startLow;
  span.elapsed = (endHigh - startHigh) * 2 ** 32 + (endLow - startLow);
  return span;
}

function readStatus(reader: Reader, end: number): number {
  let code = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === STATUS_CODE) code = reader.int32();
    else reader.leaveOut(tag);
  }
  reader.assertAt(end);
  return code;
}

/** A `KeyValue`: its value is decoded once its key is known to be one that is kept. */
function readAttribute(reader: Reader, end: number, attributes: SentAttribute[]): void {
  let meaning: Meaning | undefined;
  let at = -1;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === KEY) {
      meaning = reader.meaning();
    } else {
      if (tag === VALUE) at = reader.pos;
      reader.leaveOut(tag);
    }
  }
  reader.assertAt(end);
  if (meaning === undefined || at === -1) return;
  reader.pos = at;
  const value = readValue(reader, reader.end());
  if (value !== null) attributes.push({ meaning, value });
  reader.pos = end;
}

/** An `AnyValue`; null for every type but text and numbers. */
function readValue(reader: Reader, end: number): AttributeValue | null {
  let value: AttributeValue | null = null;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === TEXT) value = reader.text();
    else if (tag === INTEGER) value = Number(reader.int64());
    else if (tag === DOUBLE) value = reader.double();
    else reader.leaveOut(tag);
  }
  reader.assertAt(end);
  return value;
}
