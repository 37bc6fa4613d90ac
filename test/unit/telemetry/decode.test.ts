import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Problem } from "../../../shared/platform/problem.ts";
import { MAX_BYTES, readSpans } from "../../../shared/telemetry/body.ts";
import { MEANINGS } from "../../../shared/telemetry/conventions.ts";
import { scopeOf, type SentSpan } from "../../../shared/telemetry/span.ts";
import { leastTime } from "../../stack/least-time.ts";
import { anySpan, attributesOf, jsonRequest, type OtlpSpan, protobufRequest, spanOf } from "./otlp.ts";

type Encoding = "protobuf" | "json";
type Bytes = Uint8Array<ArrayBuffer>;

const KEYS = [...MEANINGS.keys()];

const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);
const request = (encoding: Encoding, spans: OtlpSpan[]): Bytes =>
  encoding === "protobuf" ? protobufRequest(spans) : bytesOf(jsonRequest(spans));

function read(encoding: Encoding, body: Bytes, contentEncoding?: string): SentSpan[] {
  return readSpans(body, { encoding: contentEncoding, protobuf: encoding === "protobuf" });
}

/** The code of the problem that reading ends with; null where it succeeds. Nothing else may ever be thrown. */
function problemOf(encoding: Encoding, body: Bytes, contentEncoding?: string): string | null {
  try {
    read(encoding, body, contentEncoding);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}

test("both encodings say the same about any span", () => {
  fc.assert(
    fc.property(fc.array(anySpan(KEYS), { maxLength: 3 }), (spans) => {
      const [fromProtobuf, fromJson] = [
        read("protobuf", protobufRequest(spans)),
        read("json", bytesOf(jsonRequest(spans))),
      ];
      expect(fromProtobuf).toEqual(fromJson);
      expect(fromJson.length).toBe(spans.length);
    }),
  );
});

describe.each<Encoding>(["protobuf", "json"])("%s", (encoding) => {
  const span = spanOf({
    parentSpanId: "00f067aa0ba902b7",
    name: "chat gpt-4o",
    startTimeUnixNano: "1764000000123456789",
    endTimeUnixNano: "1764000000623456790",
    attributes: attributesOf({ "gen_ai.system": "openai", "gen_ai.usage.input_tokens": 12, "gen_ai.usage.cost": 0.5 }),
    status: { code: 2, message: "a message" },
  });

  test("gives every field that is kept, exactly", () => {
    expect(read(encoding, request(encoding, [span]))).toEqual([
      {
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: "00f067aa0ba902b7",
        name: "chat gpt-4o",
        scope: scopeOf("scope-secret"),
        start: Number(1_764_000_000_123_456_789n),
        elapsed: 500_000_001,
        failed: true,
        attributes: [
          { meaning: MEANINGS.get("gen_ai.system"), value: "openai" },
          { meaning: MEANINGS.get("gen_ai.usage.input_tokens"), value: 12 },
          { meaning: MEANINGS.get("gen_ai.usage.cost"), value: 0.5 },
        ],
      },
    ]);
  });

  test("gives nothing of what is not kept", () => {
    const secret = attributesOf({
      "gen_ai.input.messages": "message-secret",
      "gen_ai.tool.call.arguments": "arguments-secret",
      "gen_ai.tool.name.more": "prefix-secret",
      constructor: "prototype-secret",
      ["__proto__"]: "prototype-secret",
    });
    const told = spanOf({
      attributes: [
        ...secret,
        { key: "gen_ai.tool.name", value: { arrayValue: { values: [{ stringValue: "array-secret" }] } } },
      ],
      events: [{ name: "event-secret", attributes: attributesOf({ "gen_ai.tool.name": "event-secret" }) }],
      links: [{ ...spanOf(), attributes: attributesOf({ "gen_ai.tool.name": "link-secret" }) }],
      status: { code: 2, message: "status-secret" },
    });
    const [decoded] = read(encoding, request(encoding, [told]));
    expect(JSON.stringify(decoded)).not.toContain("secret");
    expect(decoded?.attributes).toEqual([]);
  });

  test("is taken in gzip and without it, and in no other encoding", () => {
    const body = request(encoding, [span]);
    const plain = read(encoding, body);
    for (const name of [undefined, "", "identity", "Identity"]) expect(read(encoding, body, name)).toEqual(plain);
    for (const name of ["gzip", "GZIP", " gzip "]) expect(read(encoding, gzipSync(body), name)).toEqual(plain);
    for (const name of ["br", "deflate", "zstd", "gzip, gzip", "x"])
      expect(problemOf(encoding, gzipSync(body), name)).toBe("unsupported_media_type");
  });

  test("may unpack to 4 MiB, and a bomb is refused before it is unpacked", async () => {
    const full = Buffer.alloc(MAX_BYTES, " ");
    if (encoding === "json") full.write("{}");
    else protobufPadding(full);
    expect(problemOf(encoding, gzipSync(full), "gzip")).toBeNull();
    expect(problemOf(encoding, gzipSync(Buffer.alloc(MAX_BYTES + 1)), "gzip")).toBe("payload_too_large");

    // A gigabyte in members of a megabyte each: who unpacks it all takes a second and the memory.
    const megabyte = gzipSync(Buffer.alloc(1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 1024 }, () => megabyte));
    const unpack = () => expect(problemOf(encoding, bomb, "gzip")).toBe("payload_too_large");
    expect(await leastTime(500, unpack)).toBeLessThan(500);
  });

  test("that is cut short is refused or is a shorter request, and so are any bytes, in any encoding", () => {
    const body = request(encoding, [span, spanOf({ attributes: attributesOf({ "tool.name": "x".repeat(200) }) })]);
    const expected = encoding === "json" ? ["malformed_json", "malformed_otlp", null] : ["malformed_otlp", null];
    for (let length = 0; length < body.length; length += 1)
      expect(expected).toContain(problemOf(encoding, body.slice(0, length)));
    const packed = gzipSync(body);
    for (let length = 0; length < packed.length; length += 1)
      expect(problemOf(encoding, packed.subarray(0, length), "gzip")).toBe("malformed_otlp");
    const flipped = fc.tuple(fc.nat(body.length - 1), fc.nat(255)).map(([at, byte]) => body.with(at, byte));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((array) => new Uint8Array(array)),
      flipped,
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom(undefined, "gzip"), (any, name) => {
        expect(expected).toContain(problemOf(encoding, any, name));
      }),
      { numRuns: 400 },
    );
  });
});

/** Makes bytes one unknown field that fills them. */
function protobufPadding(bytes: Buffer): void {
  const head = new BinaryWriter()
    .tag(9, WireType.LengthDelimited)
    .uint32(bytes.length - 5)
    .finish();
  expect(head.length).toBe(5);
  bytes.set(head);
}

describe("protobuf's wire format", () => {
  const tag = (field: number, wire: WireType) => new BinaryWriter().tag(field, wire);
  const wrap = (field: number, inner: Uint8Array) => tag(field, WireType.LengthDelimited).bytes(inner).finish();

  test.each<[string, Uint8Array<ArrayBuffer>]>([
    ["groups nested without end", new Uint8Array(1_000_000).fill(0x0b)],
    ["a field longer than its message", new Uint8Array([0x0a, 2, 0x12, 0x20, ...new Uint8Array(40)])],
    ["a field that holds what follows its message", new Uint8Array([0x0a, 2, 0x12, 4, 0x78, 0, 0x78, 0, 0x78, 0])],
    ["a field longer than its message at the end", new Uint8Array([0x0a, 2, 0x12, 0x20])],
    ["a length of four gigabytes", new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ["an end of a group that never began", new Uint8Array([0x0c])],
    ["field number 0", new Uint8Array([0x02, 0])],
    ["a key that reaches into the value", wrap(1, wrap(2, wrap(2, wrap(9, new Uint8Array([0x0a, 9, 0x12, 0])))))],
  ])("is refused with %s", (_what, body) => {
    expect(problemOf("protobuf", body)).toBe("malformed_otlp");
  });

  test("may carry fields of later versions, groups, other wire types and a value before its key", () => {
    const value = tag(1, WireType.LengthDelimited).string("later").finish();
    const late = tag(2, WireType.LengthDelimited)
      .bytes(value)
      .tag(1, WireType.LengthDelimited)
      .string("tool.name")
      .finish();
    const group = tag(77, WireType.StartGroup).tag(1, WireType.Varint).uint32(1).tag(77, WireType.EndGroup).finish();
    const span = tag(5, WireType.Varint)
      .uint32(7)
      .raw(group)
      .tag(9, WireType.LengthDelimited)
      .bytes(late)
      .tag(4000, WireType.Bit32)
      .fixed32(1)
      .tag(5, WireType.LengthDelimited)
      .string("named")
      .finish();
    const [decoded] = read("protobuf", wrap(1, wrap(2, wrap(2, span))));
    expect(decoded).toMatchObject({ name: "named", attributes: [{ value: "later" }] });
  });
});

describe("OTLP's JSON", () => {
  const spans = (span: unknown) => bytesOf(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }));

  test("takes ids in either case, numbers as numbers or text, and ignores members that it does not know", () => {
    const attribute = (key: string, value: unknown) => ({ key, value });
    const body = spans({
      traceId: "01938E7A0000700080000000000000AB",
      spanId: "00000000000000AB",
      name: "n",
      startTimeUnixNano: 1_764_000_000_000_000_000,
      endTimeUnixNano: "1764000000000000001",
      parentSpanId: null,
      status: null,
      flags: 257,
      inventedLater: [{}],
      attributes: [
        attribute("gen_ai.usage.input_tokens", { intValue: 7 }),
        attribute("gen_ai.usage.output_tokens", { intValue: "8" }),
        attribute("gen_ai.usage.cost", { doubleValue: "0.25" }),
        attribute("gen_ai.tool.name", {}),
      ],
    });
    expect(read("json", body)).toEqual([
      {
        traceId: "01938e7a0000700080000000000000ab",
        spanId: "00000000000000ab",
        parentSpanId: "",
        name: "n",
        scope: "",
        start: 1_764_000_000_000_000_000,
        elapsed: 1,
        failed: false,
        attributes: [
          { meaning: MEANINGS.get("gen_ai.usage.input_tokens"), value: 7 },
          { meaning: MEANINGS.get("gen_ai.usage.output_tokens"), value: 8 },
          { meaning: MEANINGS.get("gen_ai.usage.cost"), value: 0.25 },
        ],
      },
    ]);
  });

  test.each<[string, unknown]>([
    ["text", "x"],
    ["a fraction", 1.5],
    ["below zero", -1],
    ["beyond 64 bits", "18446744073709551616"],
    ["an object", { low: 1, high: 1 }],
  ])("gives no time for one that is %s", (_what, startTimeUnixNano) => {
    const [decoded] = read("json", spans({ startTimeUnixNano }));
    expect(decoded?.start).toBe(0);
  });

  test.each([
    "[]",
    "null",
    "1",
    '"x"',
    '{"resourceSpans":{}}',
    '{"resourceSpans":[1]}',
    '{"resourceSpans":[{"scopeSpans":"x"}]}',
  ])("is refused where the nesting is another one: %s", (text) => {
    expect(problemOf("json", bytesOf(text))).toBe("malformed_otlp");
  });

  test("may be nested as deep as it fits in the body", () => {
    const deep = `{"resourceSpans":[],"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(read("json", bytesOf(deep))).toEqual([]);
    expect(problemOf("json", bytesOf("[".repeat(400_000)))).toBe("malformed_json");
  });
});
