import * as z from "zod";
import { AgentCreate } from "../agents/schemas.ts";
import { Manifest, type ManifestError } from "./schemas.ts";

/** What a manifest says; `endpointAt` points to where it names the endpoint. */
export type Reading = {
  kind: "native" | "a2a";
  result: { manifest: z.output<typeof Manifest>; endpointAt: string } | { errors: ManifestError[] };
};

const url = Manifest.shape.endpoint;
const JSON_RPC = "JSONRPC";
const A2A_VERSION = /^0\.[23](?:\.|$)/;

/** An A2A agent card, as far as it is needed: 0.2 and 0.3 name a URL, 1.0 a list of interfaces. */
const Card = z.object({
  name: AgentCreate.shape.name,
  description: AgentCreate.shape.description,
  version: Manifest.shape.version,
  skills: z.array(z.unknown()),
  protocolVersion: z
    .string()
    .regex(A2A_VERSION, "A2A 0.2 and 0.3 are spoken here; name an interface of one of them.")
    .optional(),
  url: url.optional(),
  preferredTransport: z.string().default(JSON_RPC),
  additionalInterfaces: z.array(z.object({ url, transport: z.string() })).default([]),
  supportedInterfaces: z.array(z.object({ url, protocolBinding: z.string(), protocolVersion: z.string() })).default([]),
});

/** Reads a manifest of the native form, or an A2A agent card, told apart by whether it names an `endpoint`. */
export function readManifest(value: Record<string, unknown>): Reading {
  const isCard = !("endpoint" in value) && ["url", "skills", "supportedInterfaces"].some((field) => field in value);
  return isCard ? { kind: "a2a", result: readCard(value) } : { kind: "native", result: readNative(value) };
}

function readNative(value: unknown): Reading["result"] {
  const parsed = Manifest.safeParse(value);
  if (!parsed.success) return { errors: errorsOf(parsed.error) };
  return { manifest: parsed.data, endpointAt: "/endpoint" };
}

function readCard(value: unknown): Reading["result"] {
  const parsed = Card.safeParse(value);
  if (!parsed.success) return { errors: errorsOf(parsed.error) };
  const { name, description, version } = parsed.data;
  const found = jsonRpcOf(parsed.data);
  if (found === null) {
    const message =
      "Name an interface that speaks A2A 0.2 or 0.3 over JSON-RPC: `url`, or an entry of `supportedInterfaces`.";
    return { errors: [{ pointer: "/url", code: "invalid_field", message }] };
  }
  return {
    manifest: { name, description, version, endpoint: found.url, agent_protocol: "a2a" },
    endpointAt: found.pointer,
  };
}

function jsonRpcOf(card: z.output<typeof Card>): { url: string; pointer: string } | null {
  if (card.url !== undefined && card.preferredTransport === JSON_RPC) return { url: card.url, pointer: "/url" };
  const additional = card.additionalInterfaces.findIndex(({ transport }) => transport === JSON_RPC);
  const supported = card.supportedInterfaces.findIndex(
    ({ protocolBinding, protocolVersion }) => protocolBinding === JSON_RPC && A2A_VERSION.test(protocolVersion),
  );
  const named = card.additionalInterfaces[additional] ?? card.supportedInterfaces[supported];
  if (named === undefined) return null;
  const pointer =
    additional === -1 ? `/supportedInterfaces/${supported}/url` : `/additionalInterfaces/${additional}/url`;
  return { url: named.url, pointer };
}

function errorsOf(error: z.ZodError): ManifestError[] {
  return error.issues.map(({ path, message }) => ({
    pointer: path.map((part) => `/${String(part)}`).join(""),
    code: "invalid_field",
    message,
  }));
}
