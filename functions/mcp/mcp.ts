import * as z from "zod";
import { isKept } from "../../shared/db/statement.ts";
import { assertScope, isTrustedOrigin } from "../../shared/http/credentials.ts";
import { callersOf } from "../../shared/http/idempotency.ts";
import { route } from "../../shared/http/route.ts";
import { viewerId } from "../../shared/identity/principal.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { apiOf } from "../site/parts/api.ts";
import { answerMessage, McpAnswer, VERSIONS } from "./rpc.ts";

const MAX_BODY_BYTES = 64 * 1024;
const McpMessage = z.instanceof(Uint8Array).meta({
  id: "McpMessage",
  description: "One JSON-RPC 2.0 message: `jsonrpc`, `id`, `method` and `params`",
});

export const mcp = [
  route({
    id: "callMcp",
    method: "post",
    path: "/mcp",
    tag: "Model Context Protocol",
    summary: "The Model Context Protocol, for coding agents",
    description:
      "Streamable HTTP, without sessions: each POST holds one JSON-RPC message and is answered as JSON. Tools: " +
      "`screen_agent`, `screening_status`, `explain_failures`, `board`, `compare`. Each asks this interface as the caller, " +
      `whose limits its requests count against. Versions: ${VERSIONS.join(", ")}. Send an API key as \`Authorization: Bearer\`. ` +
      "Requests from pages of other origins are refused.",
    auth: "read",
    limit: "read",
    body: McpMessage,
    accepts: { types: [], maxBytes: MAX_BODY_BYTES, asBytes: true },
    returns: { 200: McpAnswer, 202: null, 400: McpAnswer },
    async handler({ ctx, principal, c, own, body }) {
      const origin = c.req.header("origin");
      if (origin !== undefined && !isTrustedOrigin(ctx, origin)) {
        throw new Problem(
          "cross_site_request",
          "Pages of other origins may not call this; use a client outside the browser.",
        );
      }
      const version = c.req.header("mcp-protocol-version");
      if (version !== undefined && !VERSIONS.some((one) => one === version)) {
        const message = `This version of the protocol is not spoken; there are ${VERSIONS.join(", ")}.`;
        return { status: 400, body: { jsonrpc: "2.0", id: null, error: { code: -32_600, message } }, headers: {} };
      }
      const api = apiOf(c, ctx, own, { as: "program" });
      const { answer, readable } = await answerMessage(body, {
        api: { ...api, wasSent: (key) => isKept(ctx, { ...callersOf(c, viewerId(principal)), key }) },
        assertScope: (needed) => assertScope(principal, needed),
      });
      return { status: answer === null ? 202 : readable ? 200 : 400, body: answer, headers: {} };
    },
  }),
];
