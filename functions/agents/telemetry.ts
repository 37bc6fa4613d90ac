import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { bearerToken } from "../../shared/http/credentials.ts";
import { assertWithin, countAddress, countCaller } from "../../shared/http/limits.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Context } from "../../shared/platform/context.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { MAX_BYTES, readSpans } from "../../shared/telemetry/body.ts";
import { receiveSpans } from "../../shared/telemetry/receive.ts";
import { ExportTraceServiceResponse, toJson, toProtobuf, toStatus } from "../../shared/telemetry/response.ts";
import { hashOtlpToken, isOtlpToken } from "../../shared/telemetry/token.ts";

const PROTOBUF = "application/x-protobuf";

/** The body that OTLP/HTTP requires of an error that answers a protobuf request. */
const RPC_STATUS = { type: PROTOBUF, description: "A `google.rpc.Status`, to a request in protobuf" };

const ExportTraceServiceRequest = z.instanceof(Uint8Array).meta({
  id: "ExportTraceServiceRequest",
  description: "`opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest`, encoded as OTLP/HTTP says",
});

export const telemetry = [
  route({
    id: "exportTraces",
    method: "post",
    path: "/api/v1/otlp/v1/traces",
    tag: "Telemetry",
    summary: "Receive spans by OTLP/HTTP",
    description:
      "For OpenTelemetry exporters, with the agent's receiver token as `Authorization: Bearer otlp_…`. Protobuf or " +
      "JSON, as it is or in gzip, at most 4 MiB after decompression. A span belongs to the run whose id, without " +
      "dashes, is its trace id: continue the `traceparent` of the screening request. Spans of other traces are " +
      "dropped silently, and so are those that arrive more than a day after the run's end. The service keeps name, " +
      "times, status, operation, provider, model, token counts and cost by the GenAI semantic conventions, and a " +
      "digest of the instrumentation's name, for 30 days; messages, arguments, results and every other attribute are " +
      "never read. Malformed spans, and those " +
      "beyond 10,000 in one request or 2,000 in one run, are counted in `partialSuccess`. A token may send 120 " +
      "requests a minute.",
    auth: "none",
    needs: "receiver",
    // Counted by the handler: by the address and by the token, at once.
    limit: null,
    body: ExportTraceServiceRequest,
    accepts: { types: [PROTOBUF], maxBytes: MAX_BYTES, asBytes: true },
    returns: {
      200: ExportTraceServiceResponse,
      400: RPC_STATUS,
      401: RPC_STATUS,
      413: RPC_STATUS,
      415: RPC_STATUS,
      429: RPC_STATUS,
    },
    mediaTypes: [PROTOBUF],
    problems: ["unauthenticated", "rate_limited", "malformed_json", "malformed_otlp"],
    async handler({ ctx, body, c }) {
      const protobuf = c.req.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase() === PROTOBUF;
      try {
        const token = bearerToken(c);
        const hash = token !== null && isOtlpToken(token) ? hashOtlpToken(token) : null;
        await count(ctx, c, hash);
        if (hash === null) throw badToken();
        const sent = readSpans(body, { encoding: c.req.header("content-encoding"), protobuf });
        const receipt = await receiveSpans(ctx, hash, sent);
        if (receipt === null) throw badToken();
        return protobuf ? c.newResponse(toProtobuf(receipt), 200, headersOf(null)) : ok(toJson(receipt));
      } catch (error) {
        if (!protobuf || !(error instanceof Problem)) throw error;
        return new Response(toStatus(error), { status: error.status, headers: headersOf(error) });
      }
    },
  }),
];

function headersOf(problem: Problem | null): Record<string, string> {
  return { "Content-Type": PROTOBUF, "Cache-Control": "no-store", ...problem?.extras.headers };
}

/** Counts a request against its address and its token, if it has one: one round trip to Redis. Throws `rate_limited`. */
async function count(ctx: Context, c: HonoContext, tokenHash: string | null): Promise<void> {
  const counted = await Promise.all([
    countAddress(ctx, "telemetry"),
    tokenHash === null ? null : countCaller(ctx, "otlp", tokenHash),
  ]);
  const standings = counted.filter((standing) => standing !== null);
  const standing = standings.find(({ refused }) => refused !== null) ?? standings.at(-1);
  if (standing === undefined) return;
  c.set("standing", standing);
  assertWithin(standing);
}

function badToken(): Problem {
  return new Problem(
    "unauthenticated",
    "Send the agent's receiver token as Authorization: Bearer otlp_…; this one is missing, unknown or revoked.",
    { headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } },
  );
}
