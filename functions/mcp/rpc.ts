import * as z from "zod";
import { API_VERSION } from "../../shared/http/openapi.ts";
import type { Scope } from "../../shared/identity/api-keys/scopes.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { LISTED } from "./listed.static.ts";
import { type ToolApi, ToolFailure } from "./tool-api.ts";
import { TOOLS } from "./tools.ts";

/** The versions of the protocol that are spoken, the newest first. */
export const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** Codes of JSON-RPC 2.0. */
const CODES = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602 } as const;

const Id = z.union([z.string(), z.number()]);
const Message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.looseObject({}).nullish(),
});
const Initialize = z.looseObject({ protocolVersion: z.string() });
const CallTool = z.looseObject({ name: z.string(), arguments: z.looseObject({}).nullish() });

/** What a message is answered with. */
export const McpAnswer = z
  .object({
    jsonrpc: z.literal("2.0").meta({ description: "The version of JSON-RPC" }),
    id: Id.nullable().meta({ description: "The id of the request; null where it can't be read" }),
    result: z.looseObject({}).optional().meta({ description: "What the method gives" }),
    error: z
      .object({ code: z.int(), message: z.string() })
      .optional()
      .meta({ description: "Why there is no result, by a code of JSON-RPC" }),
  })
  .meta({ id: "McpAnswer" });

type Answer = z.output<typeof McpAnswer>;

/** Why a message can't be carried out. */
class RpcError extends Error {
  readonly code: number;

  constructor(code: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[code];
  }
}

/** The caller of a tool. */
interface Caller {
  /** The interface as this caller. */
  api: ToolApi;
  /** Throws `insufficient_scope` where the caller's credential lacks a scope. */
  assertScope(needed: Scope | null): void;
}

/**
 * Carries out one JSON-RPC message of the Model Context Protocol. Null for a notification or a response, which get no
 * answer; `readable` is false where the message is none. Rejects with what is not the caller's to mend.
 */
export async function answerMessage(
  bytes: Uint8Array,
  caller: Caller,
): Promise<{ answer: Answer | null; readable: boolean }> {
  let id: Answer["id"] = null;
  try {
    const message = messageOf(bytes);
    if (message.id === undefined || message.method === undefined) return { answer: null, readable: true };
    id = message.id;
    const result = await carryOut(message.method, message.params ?? {}, caller);
    return { answer: { jsonrpc: "2.0", id, result }, readable: true };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message } = error;
    return { answer: { jsonrpc: "2.0", id, error: { code, message } }, readable: id !== null };
  }
}

function messageOf(bytes: Uint8Array): z.output<typeof Message> {
  let sent: unknown;
  try {
    sent = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new RpcError("parse", "The body can't be parsed as JSON in UTF-8; check quotes, commas and the encoding.");
  }
  const message = Message.safeParse(sent);
  if (message.success) return message.data;
  throw new RpcError(
    "request",
    "Send one JSON-RPC 2.0 message: jsonrpc, id, method and params. Batches are not taken.",
  );
}

async function carryOut(
  method: string,
  params: Record<string, unknown>,
  caller: Caller,
): Promise<Record<string, unknown>> {
  switch (method) {
    case "initialize":
      return begin(params);
    case "ping":
      return {};
    case "tools/list":
      return { tools: LISTED };
    case "tools/call":
      return callTool(params, caller);
    default:
      throw new RpcError("method", `There is no method ${method.slice(0, 100)}; use tools/list and tools/call.`);
  }
}

function begin(params: Record<string, unknown>): Record<string, unknown> {
  const asked = Initialize.safeParse(params);
  if (!asked.success) throw new RpcError("params", "Name the protocolVersion that you speak.");
  return {
    protocolVersion: VERSIONS.find((one) => one === asked.data.protocolVersion) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "agent-screening", title: "Agent Screening", version: API_VERSION },
    instructions:
      "Screens AI agents with benchmark tasks. Start with screen_agent, ask screening_status until it is final, then " +
      "explain_failures. board and compare say how agents stand to each other.",
  };
}

async function callTool(
  params: Record<string, unknown>,
  { api, assertScope }: Caller,
): Promise<Record<string, unknown>> {
  const call = CallTool.safeParse(params);
  if (!call.success) throw new RpcError("params", "Name the tool as name, and its arguments as an object.");
  const tool = TOOLS.find(({ name }) => name === call.data.name);
  if (tool === undefined)
    throw new RpcError("params", `There is no such tool; there are ${TOOLS.map(({ name }) => name).join(", ")}.`);
  const given = withoutNulls(call.data.arguments ?? {});
  const input = tool.input.safeParse(given);
  if (!input.success) return failed(`validation_failed: ${z.prettifyError(input.error)}`);
  try {
    assertScope(tool.needs);
    const data = await tool.run(api, given);
    return { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data };
  } catch (error) {
    if (error instanceof ToolFailure) return failed(error.message);
    if (!(error instanceof Problem)) throw error;
    const findings = (error.extras.errors ?? []).map(({ pointer, message }) => `${pointer}: ${message}`);
    const retry = error.extras.headers?.["Retry-After"];
    const wait = retry === undefined ? [] : [`Wait ${retry} seconds.`];
    return failed([`${error.code}: ${error.message}`, ...findings, ...wait].join("\n"));
  }
}

/** Arguments that are null are left out: many models and clients write them so, and no tool takes null. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/** A tool's failure, for the model to read and to mend. */
function failed(text: string): Record<string, unknown> {
  return { content: [{ type: "text", text }], isError: true };
}
