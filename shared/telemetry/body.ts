import { gunzipSync } from "node:zlib";
import { Problem } from "../platform/problem.ts";
import { decodeJson } from "./json.ts";
import { decodeProtobuf } from "./protobuf.ts";
import type { SentSpan } from "./span.ts";

/** Longest body of an export, as it comes and after decompression. */
export const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The spans in the body of an OTLP/HTTP export. Throws `unsupported_media_type` for a Content-Encoding other than gzip,
 * `payload_too_large` for what unpacks to more than 4 MiB, and `malformed_json` or `malformed_otlp` for what can't be
 * read.
 */
export function readSpans(body: Uint8Array, as: { encoding: string | undefined; protobuf: boolean }): SentSpan[] {
  const bytes = unpack(body, as.encoding?.trim().toLowerCase());
  try {
    return as.protobuf ? decodeProtobuf(bytes) : decodeJson(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Problem("malformed_json", "The body can't be parsed as JSON; check quotes and commas.");
    }
    throw malformed("The body is not an ExportTraceServiceRequest in the encoding that its Content-Type names.");
  }
}

function unpack(body: Uint8Array, encoding = "identity"): Uint8Array {
  if (encoding === "identity" || encoding === "") return body;
  if (encoding !== "gzip") {
    throw new Problem("unsupported_media_type", "Send the body with Content-Encoding: gzip, or with none.", {
      headers: { "Accept-Encoding": "gzip, identity" },
    });
  }
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    // Too many bytes are a RangeError in Node and workerd alike; nothing else that is wrong with a gzip is.
    if (!(error instanceof RangeError)) throw malformed("The body can't be decompressed as gzip.");
    throw new Problem("payload_too_large", `The body unpacks to more than ${MAX_BYTES} bytes; export smaller batches.`);
  }
}

function malformed(detail: string): Problem {
  return new Problem("malformed_otlp", detail);
}
