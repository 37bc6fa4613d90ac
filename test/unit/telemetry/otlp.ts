import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";

/** A value of an attribute in OTLP's JSON encoding. */
export type Value =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: Value[] } };

/** A span in OTLP's JSON encoding. */
export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: { key: string; value: Value }[];
  events?: { name: string; attributes: { key: string; value: Value }[] }[];
  links?: { traceId: string; spanId: string; attributes: { key: string; value: Value }[] }[];
  status?: { code?: number; message?: string };
  /** The name of its instrumentation, which in OTLP stands around it; `scope-secret` where none is given. */
  scope?: string;
}

/** A resource attribute that stands beside the spans of every request made here. */
const RESOURCE = { key: "service.name", value: { stringValue: "resource-secret" } };

const byScope = <S extends { scope?: string }>(spans: readonly S[]) => [
  ...Map.groupBy(spans, ({ scope }) => scope ?? "scope-secret"),
];

/** An export of these spans as JSON. */
export function jsonRequest(spans: readonly object[]): string {
  const scopeSpans = byScope(spans).map(([name, some]) => ({
    scope: { name },
    spans: some.map((span) => ({ ...span, scope: undefined })),
  }));
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: [RESOURCE] }, scopeSpans, schemaUrl: "" }] });
}

/** The same export in protobuf's wire format, by the numbers of opentelemetry-proto 1. */
export function protobufRequest(spans: readonly OtlpSpan[]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  message(writer, 1, () => {
    message(writer, 1, () => attribute(writer, 1, RESOURCE));
    for (const [name, some] of byScope(spans))
      message(writer, 2, () => {
        message(writer, 1, () => writer.tag(1, WireType.LengthDelimited).string(name));
        for (const span of some) message(writer, 2, () => writeSpan(writer, span));
      });
    writer.tag(3, WireType.LengthDelimited).string("");
  });
  return writer.finish();
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

function writeSpan(writer: BinaryWriter, span: OtlpSpan): void {
  const id = (field: number, hex: string) => writer.tag(field, WireType.LengthDelimited).bytes(Buffer.from(hex, "hex"));
  id(1, span.traceId);
  id(2, span.spanId);
  if (span.parentSpanId !== undefined) id(4, span.parentSpanId);
  writer.tag(5, WireType.LengthDelimited).string(span.name);
  writer.tag(6, WireType.Varint).int32(3);
  writer.tag(7, WireType.Bit64).fixed64(span.startTimeUnixNano);
  writer.tag(8, WireType.Bit64).fixed64(span.endTimeUnixNano);
  for (const one of span.attributes ?? []) attribute(writer, 9, one);
  for (const event of span.events ?? [])
    message(writer, 11, () => {
      writer.tag(2, WireType.LengthDelimited).string(event.name);
      for (const one of event.attributes) attribute(writer, 3, one);
    });
  for (const link of span.links ?? [])
    message(writer, 13, () => {
      id(1, link.traceId);
      id(2, link.spanId);
      for (const one of link.attributes) attribute(writer, 4, one);
    });
  message(writer, 15, () => {
    writer.tag(2, WireType.LengthDelimited).string(span.status?.message ?? "");
    writer.tag(3, WireType.Varint).int32(span.status?.code ?? 0);
  });
  writer.tag(16, WireType.Bit32).fixed32(1);
}

function attribute(writer: BinaryWriter, field: number, { key, value }: { key: string; value: Value }): void {
  message(writer, field, () => {
    writer.tag(1, WireType.LengthDelimited).string(key);
    message(writer, 2, () => writeValue(writer, value));
  });
}

function writeValue(writer: BinaryWriter, value: Value): void {
  if ("stringValue" in value) writer.tag(1, WireType.LengthDelimited).string(value.stringValue);
  else if ("boolValue" in value) writer.tag(2, WireType.Varint).bool(value.boolValue);
  else if ("intValue" in value) writer.tag(3, WireType.Varint).int64(value.intValue);
  else if ("doubleValue" in value) writer.tag(4, WireType.Bit64).double(value.doubleValue);
  else
    message(writer, 5, () => {
      for (const one of value.arrayValue.values) message(writer, 1, () => writeValue(writer, one));
    });
}

let ids = 0;

/** A span of a second; its ids are new where `fields` give none. */
export function spanOf(fields: Partial<OtlpSpan> = {}): OtlpSpan {
  ids += 1;
  return {
    traceId: `01938e7a00007000800000000000${ids.toString(16).padStart(4, "0")}`,
    spanId: ids.toString(16).padStart(16, "f"),
    name: "a span",
    startTimeUnixNano: "1764000000000000000",
    endTimeUnixNano: "1764000001000000000",
    ...fields,
  };
}

/** Attributes of text, as an object gives them; numbers become integers or doubles. */
export function attributesOf(values: Record<string, string | number>): { key: string; value: Value }[] {
  return Object.entries(values).map(([key, value]) => {
    if (typeof value === "string") return { key, value: { stringValue: value } };
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
  });
}

const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ stringValue: fc.string({ unit: "grapheme" }) }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
    // JSON as JavaScript writes it has no zero below zero.
    fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => double + 0) }),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie("value"), { maxLength: 2 }) }) }),
  ),
}));

/** Any value of an attribute. */
export const value: fc.Arbitrary<Value> = anyValue;

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef".split("")), minLength: digits, maxLength: digits });
const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);

/** Any span that can be written in both encodings, with some attributes of `keys`. */
export function anySpan(keys: readonly string[]): fc.Arbitrary<OtlpSpan> {
  const attributes = fc.array(fc.record({ key: fc.oneof(fc.constantFrom(...keys), fc.string()), value }), {
    maxLength: 5,
  });
  return fc.record(
    {
      traceId: fc.oneof(hex(32), hex(30), fc.constant("0".repeat(32))),
      spanId: fc.oneof(hex(16), hex(18)),
      parentSpanId: fc.oneof(hex(16), fc.constant(""), hex(2)),
      name: fc.string({ unit: "grapheme" }),
      startTimeUnixNano: nanos,
      endTimeUnixNano: nanos,
      attributes,
      events: fc.array(fc.record({ name: fc.string(), attributes }), { maxLength: 2 }),
      status: fc.record({ code: fc.nat(3), message: fc.string() }),
    },
    { requiredKeys: ["traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"] },
  );
}
