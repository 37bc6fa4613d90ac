import { generateKeyPairSync, sign, verify } from "node:crypto";
import { expect, it } from "vitest";
import { ecdsaSignature } from "../../../shared/identity/ecdsa-signature.ts";

const DATA = Buffer.from("what an authenticator signs");

it.each([
  ["P-256", 32, 300],
  ["P-384", 48, 30],
  ["P-521", 66, 30],
])("the two integers of a signature by %s are those that verify", (namedCurve, size, rounds) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
  const sized = (integer: Uint8Array): Buffer => Buffer.concat([Buffer.alloc(size), integer]).subarray(-size);
  // One in some hundred has an integer with a byte less, and every other one with a zero before it.
  for (let round = 0; round < rounds; round += 1) {
    const { r, s } = ecdsaSignature(sign("sha256", DATA, privateKey));
    const both = Buffer.concat([sized(r), sized(s)]);
    expect(verify("sha256", DATA, { key: publicKey, dsaEncoding: "ieee-p1363" }, both)).toBe(true);
  }
});

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replaceAll(" ", ""), "hex"));

it.each([
  ["nothing", ""],
  ["another tag", "31 06 020107 020109"],
  ["an integer that is none", "30 06 020107 030109"],
  ["one integer", "30 03 020107"],
  ["three integers", "30 09 020107 020109 020101"],
  ["something behind", "30 06 020107 020109 00"],
  ["an integer of nothing", "30 05 0200 020109"],
  ["less than its length says", "30 07 020107 020109"],
  ["an integer beyond its sequence", "30 06 020107 020209"],
  ["a length in a byte more than it needs", "30 8106 020107 020109"],
  ["a length in two bytes more", "30 820006 020107 020109"],
  ["a length that is not told", "30 80 020107 020109 0000"],
])("%s is no signature", (_, hex) => {
  expect(() => ecdsaSignature(bytes(hex))).toThrow(/ECDSA signature/);
});
