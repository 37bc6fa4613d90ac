import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as z from "zod";
import type { Problem } from "../platform/problem.ts";
import type { Receipt } from "./receive.ts";

/** The answer to an export, in OTLP's JSON encoding. */
export const ExportTraceServiceResponse = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z.string().meta({ description: "A number as text, as 64-bit integers are in protobuf's JSON" }),
        errorMessage: z.string(),
      })
      .optional()
      .meta({ description: "Only where spans were rejected; sending those again would change nothing" }),
  })
  .meta({ id: "ExportTraceServiceResponse" });

/** The answer to an export that its JSON schema takes. */
export function toJson({ rejected, reason }: Receipt): z.input<typeof ExportTraceServiceResponse> {
  return rejected === 0 ? {} : { partialSuccess: { rejectedSpans: String(rejected), errorMessage: reason } };
}

/** The same in protobuf's wire format; no bytes at all where nothing was rejected. */
export function toProtobuf({ rejected, reason }: Receipt): Uint8Array<ArrayBuffer> {
  const response = new BinaryWriter();
  if (rejected > 0) {
    response.tag(1, WireType.LengthDelimited).fork();
    response.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(reason);
    response.join();
  }
  return response.finish();
}

/** gRPC's codes for the statuses that a problem of an export can have. */
const RPC_CODES: Record<number, number> = { 400: 3, 401: 16, 413: 3, 415: 3, 429: 8 };
const RPC_UNKNOWN = 2;

/** A problem as a `google.rpc.Status` in protobuf's wire format. */
export function toStatus({ status, message }: Problem): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter().tag(1, WireType.Varint).int32(RPC_CODES[status] ?? RPC_UNKNOWN);
  return writer.tag(2, WireType.LengthDelimited).string(message).finish();
}
