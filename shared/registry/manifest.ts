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
const VERSIONS = { a2a_1: /^1\.0(?:\.|$)/, a2a: /^0\.[23](?:\.|$)/ };

/** An A2A agent card, as far as it is needed: 0.2 and 0.3 name a URL, 1.0 a list of interfaces. */
const Card = z.object({
  name: AgentCreate.shape.name,
  description: AgentCreate.shape.description,
  version: Manifest.shape.version,
  skills: z.array(z.unknown()),
  protocolVersion: z
    .string()
    .regex(/^(?:0\.[23]|1\.0)(?:\.|$)/, "A2A 0.2, 0.3 and 1.0 are spoken here; name an interface of one of them.")
    .optional(),
  url: url.optional(),
  preferredTransport: z.string().default(JSON_RPC),
  additionalInterfaces: z.array(z.object({ url, transport: z.string().optional() })).default([]),
  supportedInterfaces: z
    .array(z.object({ url, protocolBinding: z.string().optional(), protocolVersion: z.string().optional() }))
    .default([]),
});

/**
 * Reads a manifest of the native form, or an A2A agent card, told apart by whether it names an `endpoint`. Null says the same
 * as a missing member, as many serialisers write it.
 */
export function readManifest(document: Record<string, unknown>): Reading {
  const value = Object.fromEntries(Object.entries(document).filter(([, member]) => member !== null));
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
      "Name an interface of A2A 0.2, 0.3 or 1.0 over JSON-RPC: `url`, or one of `supportedInterfaces` with its version.";
    return { errors: [{ pointer: "/url", code: "invalid_field", message }] };
  }
  return {
    manifest: { name, description, version, endpoint: found.url, agent_protocol: found.speaks },
    endpointAt: found.pointer,
  };
}

/**
 * Where a card has its JSON-RPC interface, and what is spoken there. An older version goes before 1.0, so that an agent that
 * is registered already stays at its endpoint when its card lists a newer one, too. In a card of 1.0, which knows no `url`, that
 * is often the website's, so it is gone by only where no interface is listed.
 */
function jsonRpcOf(card: z.output<typeof Card>): { url: string; pointer: string; speaks: "a2a" | "a2a_1" } | null {
  const supported = supportedOf(card, "a2a") ?? supportedOf(card, "a2a_1");
  if (supported !== null && !VERSIONS.a2a.test(card.protocolVersion ?? "")) return supported;
  const speaks = VERSIONS.a2a_1.test(card.protocolVersion ?? "") ? "a2a_1" : "a2a";
  if (card.url !== undefined && card.preferredTransport === JSON_RPC) return { url: card.url, pointer: "/url", speaks };
  const index = card.additionalInterfaces.findIndex(({ transport }) => transport === JSON_RPC);
  const additional = card.additionalInterfaces[index];
  if (additional !== undefined) return { url: additional.url, pointer: `/additionalInterfaces/${index}/url`, speaks };
  return supported;
}

function supportedOf(card: z.output<typeof Card>, speaks: "a2a" | "a2a_1") {
  const { supportedInterfaces, protocolVersion: whole = "" } = card;
  const index = supportedInterfaces.findIndex(
    ({ protocolBinding, protocolVersion = whole }) =>
      protocolBinding === JSON_RPC && VERSIONS[speaks].test(protocolVersion),
  );
  const supported = supportedInterfaces[index];
  return supported === undefined ? null : { url: supported.url, pointer: `/supportedInterfaces/${index}/url`, speaks };
}

function errorsOf(error: z.ZodError): ManifestError[] {
  return error.issues.map(({ path, message }) => ({
    pointer: path.map((part) => `/${String(part)}`).join(""),
    code: "invalid_field",
    message,
  }));
}
