import { didDocument, jwks } from "../shared/evidence/did.ts";
import { route } from "../shared/http/route.ts";
import { SIGNATURES_DIRECTORY_TYPE, signaturesDirectory } from "../shared/platform/outbound/signature.ts";

const tag = "Evidence";
const HEADERS = { "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*" };

function document(body: unknown, type: string): Response {
  return new Response(JSON.stringify(body), { headers: { ...HEADERS, "Content-Type": type } });
}

export const wellKnown = [
  route({
    id: "readJwks",
    method: "get",
    path: "/.well-known/jwks.json",
    tag,
    summary: "The public keys that sign evidence and calls to agents",
    description:
      "Retired keys stay. The `kid` is that of the evidence's header; the thumbprint after its # signs calls.",
    auth: "none",
    returns: { 200: { type: "application/json", description: "A JWK set" } },
    async handler({ ctx }) {
      return document(jwks(ctx.env.BASE_URL, await ctx.keys()), "application/json");
    },
  }),
  route({
    id: "readDid",
    method: "get",
    path: "/.well-known/did.json",
    tag,
    summary: "The issuer's DID document (did:web)",
    auth: "none",
    returns: { 200: { type: "application/json", description: "A DID document" } },
    async handler({ ctx }) {
      return document(didDocument(ctx.env.BASE_URL, await ctx.keys()), "application/json");
    },
  }),
  route({
    id: "readSignaturesDirectory",
    method: "get",
    path: "/.well-known/http-message-signatures-directory",
    tag,
    summary: "The keys that sign our calls to agents (RFC 9421)",
    auth: "none",
    returns: { 200: { type: SIGNATURES_DIRECTORY_TYPE, description: "A JWK set" } },
    async handler({ ctx }) {
      return document(signaturesDirectory(await ctx.keys()), SIGNATURES_DIRECTORY_TYPE);
    },
  }),
];
