import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { MAX_BYTES, readSpans } from "../../shared/telemetry/body.ts";
import { attributesOf, jsonRequest, protobufRequest, spanOf } from "../unit/telemetry/otlp.ts";

const spans = [spanOf({ name: "chät 😀", attributes: attributesOf({ "gen_ai.tool.name": "wéather" }) }), spanOf()];

test("spans are read alike from both encodings, in gzip too", () => {
  const fromJson = readSpans(new TextEncoder().encode(jsonRequest(spans)), { encoding: undefined, protobuf: false });
  const packed = new Uint8Array(gzipSync(protobufRequest(spans)));
  expect(readSpans(packed, { encoding: "gzip", protobuf: true })).toEqual(fromJson);
  expect(fromJson.map(({ name }) => name)).toEqual(["chät 😀", "a span"]);
});

test("a body that unpacks to more than 4 MiB is refused, and so is one that is no gzip", () => {
  const read = (body: Uint8Array) => () => readSpans(new Uint8Array(body), { encoding: "gzip", protobuf: true });
  expect(read(gzipSync(new Uint8Array(MAX_BYTES + 1)))).toThrow(expect.objectContaining({ code: "payload_too_large" }));
  expect(read(gzipSync(protobufRequest(spans)).subarray(0, 40))).toThrow(
    expect.objectContaining({ code: "malformed_otlp" }),
  );
});
