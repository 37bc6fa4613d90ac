import { createHash, randomBytes, randomInt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { absorb, beginHash, digestOf, loadHash, saveHash } from "../../../shared/platform/resumable-sha256.ts";

const expected = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("a hash that can be put by", () => {
  it("is SHA-256 at every length around the ends of blocks", () => {
    for (let length = 0; length <= 200; length += 1) {
      const bytes = randomBytes(length);
      expect(digestOf(absorb(beginHash(), bytes)), `${length} bytes`).toBe(expected(bytes));
    }
  });

  it("is the same however the bytes are cut, and wherever it was put by between", () => {
    for (let round = 0; round < 50; round += 1) {
      const bytes = randomBytes(randomInt(5000));
      let hashing = beginHash();
      for (let at = 0; at < bytes.length; ) {
        const next = at + randomInt(1, 300);
        const saved = saveHash(hashing);
        expect(saved).toMatch(/^\S{1,160}$/);
        hashing = absorb(loadHash(saved), bytes.subarray(at, next));
        at = next;
      }
      expect(digestOf(loadHash(saveHash(hashing)))).toBe(expected(bytes));
    }
  });

  it("leaves what it grew from as it was", () => {
    const begun = absorb(beginHash(), Buffer.from("abc"));
    absorb(begun, randomBytes(100));
    expect(digestOf(begun)).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  it.each(["", "x", "64.AA.AA", `1.${"A".repeat(43)}.`, `-1.${"A".repeat(43)}.`])("is not made of %j", (text) => {
    expect(() => loadHash(text)).toThrow(RangeError);
  });
});
