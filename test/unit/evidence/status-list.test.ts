import { gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buildStatusList,
  encodeBitstring,
  STATUS_LIST_SIZE,
  statusEntry,
} from "../../../shared/evidence/status-list.ts";
import { BASE_URL } from "./fixtures.ts";

const NOON = new Date("2026-11-21T12:00:00.000Z");

/** The bits of an encoded list, the left-most first, read as text: another way than they were written. */
function bitsOf(encoded: string): string {
  expect(encoded).toMatch(/^u[\w-]+$/);
  const hex = gunzipSync(Buffer.from(encoded.slice(1), "base64url")).toString("hex");
  return hex.replaceAll(/./g, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0"));
}

/** The places whose bits are set. */
const setIn = (bits: string): number[] => [...bits.matchAll(/1/g)].map(({ index }) => index);

describe("an encoded status list", () => {
  it("is the recommendation's example while nothing is revoked", () => {
    // Bitstring Status List v1.0, example 3.
    const example = "uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA";
    expect(bitsOf(encodeBitstring([]))).toBe(bitsOf(example));
  });

  it("has exactly the bits of any set of places, in 131,072 of them", () => {
    const places = fc.uniqueArray(fc.nat(STATUS_LIST_SIZE - 1), { maxLength: 500 });
    fc.assert(
      fc.property(places, (set) => {
        const bits = bitsOf(encodeBitstring(set));
        expect(bits).toHaveLength(131_072);
        expect(setIn(bits)).toEqual(set.toSorted((a, b) => a - b));
      }),
      { numRuns: 50, examples: [[[0]], [[7, 8]], [[131_071]]] },
    );
  });

  it("is the same text for the same places, in any order, said once or twice", () => {
    expect(encodeBitstring([9, 1, 100_000, 9])).toBe(encodeBitstring([1, 9, 100_000]));
  });

  it("stays small, and is complete when everything is revoked", () => {
    const all = Array.from({ length: STATUS_LIST_SIZE }, (_none, place) => place);
    const encoded = encodeBitstring(all);
    expect(bitsOf(encoded)).toBe("1".repeat(STATUS_LIST_SIZE));
    expect(encoded.length).toBeLessThan(200);
  });

  it.each([-1, STATUS_LIST_SIZE, 0.5, Number.NaN])("has no place %s", (place) => {
    expect(() => encodeBitstring([place])).toThrow(RangeError);
  });
});

describe("the place of a credential", () => {
  it.each([
    [0, "0", 0],
    [131_071, "131071", 0],
    [131_072, "0", 1],
    [2_147_483_647, "131071", 16_383],
  ])("with the index %i is %s in list %i", (index, place, list) => {
    expect(statusEntry(BASE_URL, index)).toEqual({
      type: "BitstringStatusListEntry",
      statusPurpose: "revocation",
      statusListIndex: place,
      statusListCredential: `https://screening.example/api/v1/credentials/status/${list}`,
    });
  });

  it.each([-1, 1.5, Number.NaN])("is none for the index %s", (index) => {
    expect(() => statusEntry(BASE_URL, index)).toThrow(RangeError);
  });
});

describe("a status list", () => {
  it("is a BitstringStatusListCredential with a day's validity and no more members than that has", () => {
    const list = buildStatusList(BASE_URL, 2, [5], NOON);
    expect(list).toEqual({
      "@context": ["https://www.w3.org/ns/credentials/v2"],
      id: "https://screening.example/api/v1/credentials/status/2",
      type: ["VerifiableCredential", "BitstringStatusListCredential"],
      issuer: "did:web:screening.example",
      validFrom: "2026-11-21T12:00:00.000Z",
      validUntil: "2026-11-22T12:00:00.000Z",
      credentialSubject: {
        id: "https://screening.example/api/v1/credentials/status/2#list",
        type: "BitstringStatusList",
        statusPurpose: "revocation",
        encodedList: encodeBitstring([5]),
        ttl: 300_000,
      },
    });
    expect(list.id).toBe(statusEntry(BASE_URL, 2 * STATUS_LIST_SIZE).statusListCredential);
  });
});
