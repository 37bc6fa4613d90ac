import type { IncomingHttpHeaders } from "node:http";
import { json, listen, type Reply, type Request } from "../stack/http.ts";
import { AgentRequest } from "./protocol.ts";
import { createVerifier, KeysUnavailable } from "./verification.ts";

/** What every sample agent is started with. */
export interface AgentOptions {
  /** Of 127.0.0.1; a free one unless given. */
  port?: number;
  /** The base URL of the service that may call. */
  service: string;
  /** Answer 401 to what the service has not signed, and to replays. */
  verify?: boolean;
  now?: () => Date;
  /** Takes one line for each call. */
  log?: (line: string) => void;
}

/** An agent that listens: `url` is what to register as its endpoint. */
export interface RunningAgent {
  url: string;
  close(): Promise<void>;
}

/** Answers one well-formed request. `gone` aborts when the caller has given up. */
export type Respond = (
  request: AgentRequest,
  gone: AbortSignal,
  headers: IncomingHttpHeaders,
) => Promise<Reply> | Reply;

/**
 * Serves an agent of the native protocol on loopback: takes POST, checks the signature if it shall, reads the request
 * and leaves the rest to `respond`. 400 for what is no request of the protocol, 401 for one that the service has not
 * signed or that is a replay, 503 when the service's keys can't be had to tell.
 */
export async function startAgent(respond: Respond, options: AgentOptions): Promise<RunningAgent> {
  const { service, verify = false, now = () => new Date(), log = () => undefined } = options;
  const verifier = verify ? createVerifier({ service, now }) : null;

  async function reply(request: Request): Promise<Reply> {
    if (request.method !== "POST") return { status: 405, headers: { allow: "POST" } };
    const { method, headers, body } = request;
    // The address that was registered, not the Host header: a call that was signed for another agent must not pass.
    const url = server.url + request.url.pathname + request.url.search;
    const fault = await verifier?.({ method, url, headers: flat(headers), body });
    if (typeof fault === "string") return json(401, { error: fault });
    const parsed = AgentRequest.safeParse(parseJson(body));
    if (!parsed.success) return json(400, { error: "This is no request of the protocol 2026-11." });
    return respond(parsed.data, request.gone, headers);
  }

  const server = await listen(async (request) => {
    const answer = await reply(request).catch((error: unknown) => {
      if (error instanceof KeysUnavailable) return json(503, { error: error.message }, { "retry-after": "1" });
      throw error;
    });
    log(`${String(request.headers["x-service-run-id"] ?? "unknown run")}: ${answer.status}`);
    return answer;
  }, options.port);
  return { url: `${server.url}/`, close: () => server.close() };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}
