import * as z from "zod";
import { Instant } from "../../platform/time.ts";

/** The longest credential id that WebAuthn allows, 1,023 bytes, in base64url. */
const MAX_ID = 1364;

const descriptor = z.object({ id: z.string(), type: z.literal("public-key") });
const challenge = z.string().meta({ description: "Holds for five minutes and for one answer" });

export const PasskeyCreationOptions = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge,
    pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
    timeout: z.int(),
    excludeCredentials: z.array(descriptor).meta({ description: "The passkeys that the account has already" }),
    authenticatorSelection: z.object({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification: z.literal("required"),
    }),
    attestation: z.literal("none"),
  })
  .meta({
    id: "PasskeyCreationOptions",
    description: "What `PublicKeyCredential.parseCreationOptionsFromJSON` of a browser takes",
  });

export const PasskeyRequestOptions = z
  .object({
    rpId: z.string(),
    challenge,
    timeout: z.int(),
    userVerification: z.literal("required"),
  })
  .meta({
    id: "PasskeyRequestOptions",
    description: "What `PublicKeyCredential.parseRequestOptionsFromJSON` of a browser takes",
  });

const id = z.base64url().min(1).max(MAX_ID);
const bytes = (max: number) => z.base64url().min(1).max(max);

/** What every answer of an authenticator has. Browsers add to it from version to version, so what is not known here is left out. */
const answer = { id, rawId: id, type: z.literal("public-key") };

export const PasskeyCreate = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .meta({ description: "What the owner tells it apart by", example: "Ada's laptop" }),
    credential: z
      .object({
        ...answer,
        response: z.object({ clientDataJSON: bytes(10_000), attestationObject: bytes(50_000) }),
      })
      .meta({ description: "The answer of `navigator.credentials.create`, by its `toJSON()`" }),
  })
  .meta({ id: "PasskeyCreate" });

export const PasskeySignIn = z
  .strictObject({
    credential: z
      .object({
        ...answer,
        response: z.object({
          clientDataJSON: bytes(10_000),
          authenticatorData: bytes(10_000),
          signature: bytes(10_000),
          userHandle: bytes(100),
        }),
      })
      .meta({ description: "The answer of `navigator.credentials.get`, by its `toJSON()`" }),
  })
  .meta({ id: "PasskeySignIn" });

export const PasskeyRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    created_at: Instant,
    last_used_at: Instant.nullable(),
  })
  .meta({ id: "PasskeyRead" });
