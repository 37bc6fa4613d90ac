import { parseJsonBounded } from "../platform/outbound/json.ts";
import { gatewayWords } from "./gateway.ts";
import type { Job } from "./job.ts";
import { errorWords } from "./protocols/error-words.ts";
import { isRecord } from "./protocols/reading.ts";

type Name = Job["agent"]["agent_protocol"];

interface Answered {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** A JSON-RPC error does not say of which version of A2A it is. */
type Form = Name | "json_rpc";

const CHAT = "openai_chat";
const LOOKS: Record<Form, string> = {
  native: "an answer of the native protocol, whose agent_protocol is native",
  openai_chat: "a chat completion, whose agent_protocol is openai_chat",
  a2a: "a result of A2A 0.3 or before, whose agent_protocol is a2a",
  a2a_1: "a result of A2A 1.0, whose agent_protocol is a2a_1",
  json_rpc: "an error of JSON-RPC: agent_protocol is a2a for A2A 0.2 and 0.3, a2a_1 for 1.0",
};

/** What servers name as missing in a request of another protocol, where a refusal says it. */
const ASKS: readonly (readonly [Form, RegExp])[] = [
  [CHAT, /\bmessages\b|\bbody\.model\b|\bmodel parameter\b|['"`]model['"`] is a required/],
  ["json_rpc", /\bjsonrpc\b|\bbody\.(?:method|params)\b/],
  ["native", /\bbody\.(?:protocol|run_id|task|deadline|callback)\b/],
];
const WANTED: Partial<Record<Form, string>> = {
  openai_chat: "chat completions: then agent_protocol is openai_chat",
  json_rpc: "JSON-RPC: then agent_protocol is a2a for A2A 0.2 and 0.3, a2a_1 for 1.0",
  native: "the native protocol: then agent_protocol is native",
};

/** What the runtime has undone by itself. */
const UNPACKED = /^(?:|identity|(?:x-)?gzip|br)$/i;

const REFUSALS: ReadonlySet<number> = new Set([400, 422]);

/** How a stream begins, whatever its type says: of events, of the AI SDK's parts, or of lines of JSON, as n8n's. */
const STREAM = /^(?::|data:|event:|id:|retry:|[0-9a-z]:["[{]|\{.*\}[\r\n]*\{)/;

/**
 * What shows that an answer which failed is not of the protocol that was spoken, and which setting mends it: in words that quote
 * nothing of it. Empty where nothing does.
 * @example
 * formWords({ status: 200, headers, body: Buffer.from('{"choices":[]}') }, "native")
 * // "The answer looks like a chat completion, whose agent_protocol is openai_chat."
 */
export function formWords({ status, headers, body }: Answered, spoken: Name): string {
  const gateway = gatewayWords({ headers, body });
  if (gateway !== "") return gateway;
  const text = new TextDecoder().decode(body);
  const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  const json = parseJsonBounded(text);
  if (isStream || (status === 200 && !json.ok && STREAM.test(text))) {
    return "The answer is a stream of events: send one JSON object instead.";
  }
  const form = json.ok ? formOf(json.value) : undefined;
  if (form !== undefined) return isOf(spoken, form) ? "" : `The answer looks like ${LOOKS[form]}.`;
  if (!json.ok && !UNPACKED.test(headers.get("content-encoding") ?? "")) {
    return "The answer is compressed in a way that was not asked for: send it with gzip, or as it is.";
  }
  if (!json.ok || !REFUSALS.has(status)) return "";
  const said = errorWords(body);
  const asks = ASKS.find(([one, words]) => !isOf(spoken, one) && words.test(said))?.[0];
  return asks === undefined ? "" : `The endpoint may want ${WANTED[asks]}.`;
}

function isOf(spoken: Name, form: Form): boolean {
  return spoken === form || (form === "json_rpc" && (spoken === "a2a" || spoken === "a2a_1"));
}

function formOf(value: unknown): Form | undefined {
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value["choices"])) return CHAT;
  if (value["jsonrpc"] === "2.0") {
    const { result } = value;
    if (!isRecord(result)) return isRecord(value["error"]) ? "json_rpc" : undefined;
    if ("kind" in result) return "a2a";
    return "task" in result || "message" in result ? "a2a_1" : undefined;
  }
  // What OpenAI's other interface answers with has an `output`, too.
  return "output" in value && value["object"] !== "response" ? "native" : undefined;
}
