import * as z from "zod";
import { decrypt, encrypt } from "../platform/encryption.ts";
import type { Env } from "../platform/env.ts";
import { bodyProblem, type Problem } from "../platform/problem.ts";

/** What the ciphertexts are bound to. */
export const AUTH_HEADER = "agent auth header";

/** What the service, the protocol and what stands between say themselves in a request: none of it can be replaced. */
const TAKEN = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "expect",
  "host",
  "idempotency-key",
  "keep-alive",
  "te",
  "traceparent",
  "tracestate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
]);
const TAKEN_PREFIXES = ["cf-", "proxy-", "sec-", "signature", "x-forwarded-", "x-service-"];

const isFree = (name: string): boolean => !TAKEN.has(name) && !TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix));

/** A header by which an endpoint knows who may call it; RFC 9110 says what name and value may consist of. */
export const AuthHeader = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]{1,64}$/, "The name of a header is 1 to 64 letters, digits and hyphens.")
      .refine((name) => isFree(name.toLowerCase()), "The service sends this header itself; choose another.")
      .meta({ description: "Such as `Authorization` or `X-Api-Key`" }),
    value: z
      .string()
      .regex(
        /^[!-~](?:[ -~]{0,4094}[!-~])?$/,
        "A value is 1 to 4096 visible ASCII characters, with spaces only within.",
      )
      .meta({ description: "Such as `Bearer …`; kept encrypted, and shown to nobody again", writeOnly: true }),
  })
  .meta({ id: "AuthHeader" });

/** A header as it is kept: its value encrypted. */
export const SealedHeader = z.object({ name: z.string(), sealed: z.string() });
export type SealedHeader = z.output<typeof SealedHeader>;

type Keys = Pick<Env, "DATA_ENCRYPTION_KEYS">;

/** The 422 for a header without an endpoint. */
export function noTarget(): Problem {
  return bodyProblem("validation_failed", "/auth_header", "There is no endpoint to send it to; give both, or neither.");
}

/** A header as it is kept. */
export function sealHeader({ name, value }: z.output<typeof AuthHeader>, { DATA_ENCRYPTION_KEYS }: Keys): SealedHeader {
  return { name, sealed: encrypt(value, DATA_ENCRYPTION_KEYS, AUTH_HEADER) };
}

/** A header as it is sent, none for null. Throws where the key it was encrypted with is gone. */
export function openHeader(header: SealedHeader | null, { DATA_ENCRYPTION_KEYS }: Keys): Record<string, string> {
  return header === null ? {} : { [header.name]: decrypt(header.sealed, DATA_ENCRYPTION_KEYS, AUTH_HEADER) };
}
