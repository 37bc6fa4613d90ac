import { expect, test } from "vitest";
import { parseEnv } from "../../../shared/platform/env.ts";
import { hashSecret } from "../../../shared/platform/hash-secret.ts";
import { DEVELOPMENT, newSecrets } from "../../stack/settings.ts";

const secrets = await newSecrets();
const key: object = JSON.parse(secrets["LOG_SIGNING_KEY"] ?? "");
const secretOf = (jwk: object, purpose = "a purpose") =>
  Buffer.from(hashSecret({ LOG_SIGNING_KEY: JSON.stringify(jwk) }, purpose)).toString("hex");

test("the secret of hashes follows the key, however it is written, and the purpose", () => {
  const secret = secretOf(key);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(secretOf({ note: "ours", ...Object.fromEntries(Object.entries(key).toReversed()) })).toBe(secret);
  expect(secretOf(key, "another purpose")).not.toBe(secret);
});

test.each(["no JSON", "[]", '{"d":"c2hvcnQ"}', JSON.stringify({ ...key, d: undefined })])(
  "a log's key without a private half is refused with all other settings, and not quoted: %s",
  (LOG_SIGNING_KEY) => {
    expect(() => parseEnv({ ...DEVELOPMENT, ...secrets, LOG_SIGNING_KEY })).toThrow(
      "- LOG_SIGNING_KEY: must be a private JWK of Ed25519 (npm run keys)",
    );
  },
);
