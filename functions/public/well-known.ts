import { didDocument, jwks } from "../../shared/evidence/did.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { SIGNATURES_DIRECTORY_TYPE, signaturesDirectory } from "../../shared/platform/outbound/signature.ts";

const tag = "Evidence";
const HEADERS = { "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*" };

export const wellKnown = [
  route({
    id: "readJwks",
    method: "get",
    path: "/.well-known/jwks.json",
    tag,
    summary: "The public keys that sign evidence and calls to agents",
    description:
      "Retired keys stay listed. A `kid` is the one in the header of the evidence; the thumbprint after its # " +
      "identifies the key that signs calls.",
    auth: "none",
    returns: { 200: { type: "application/json", description: "A JWK set" } },
    async handler({ ctx }) {
      return ok(jwks(ctx.env.BASE_URL, await ctx.keys()), HEADERS);
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
      return ok(didDocument(ctx.env.BASE_URL, await ctx.keys()), HEADERS);
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
      return ok(signaturesDirectory(await ctx.keys()), HEADERS);
    },
  }),
];
