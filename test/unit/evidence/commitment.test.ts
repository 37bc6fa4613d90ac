import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commit, requestBytes } from "../../../shared/evidence/commitment.ts";

const bytes = fc.uint8Array({ maxLength: 200 });
const salt32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("commit", () => {
  it("is SHA-256 over the salt followed by the bytes, in hex", async () => {
    await fc.assert(
      fc.asyncProperty(bytes, salt32, async (content, salt) => {
        const expected = createHash("sha256").update(salt).update(content).digest("hex");
        expect(await commit(content, salt)).toEqual({ salt, digest: expected });
      }),
    );
  });

  it("draws a fresh salt of 32 bytes, which opens the commitment again", async () => {
    const content = new TextEncoder().encode("an answer");
    const [first, second] = await Promise.all([commit(content), commit(content)]);
    expect(first.salt).toHaveLength(32);
    expect(first.salt).not.toEqual(second.salt);
    expect(first.digest).not.toBe(second.digest);
    expect(await commit(content, first.salt)).toEqual(first);
  });

  it("does not let bytes move between salt and content", async () => {
    for (const length of [0, 31, 33]) {
      await expect(commit(new Uint8Array(8), new Uint8Array(length))).rejects.toThrow(RangeError);
    }
  });
});

describe("requestBytes", () => {
  const text = (request: object) => new TextDecoder().decode(requestBytes(request));

  it("is the RFC 8785 form: sorted members, shortest numbers, no white space", () => {
    expect(text({ z: [1.0, 1e21, 0.1], é: "ä", a: { c: null, b: true } })).toBe(
      '{"a":{"b":true,"c":null},"z":[1,1e+21,0.1],"é":"ä"}',
    );
  });

  it("leaves the callback with its token out, and only that of the request itself", () => {
    const request = { run_id: "r", task: { input: { callback: "kept" } }, callback: { token: "secret" } };
    expect(text(request)).toBe('{"run_id":"r","task":{"input":{"callback":"kept"}}}');
    expect(request).toHaveProperty("callback.token");
  });

  it("does not depend on the order of members", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (request) => {
        const reversed = Object.fromEntries(Object.entries(request).toReversed());
        expect(text(reversed)).toBe(text(request));
      }),
    );
  });

  it("refuses what RFC 8785 cannot express", () => {
    expect(() => requestBytes({ prompt: "\ud800" })).toThrow("surrogate");
  });
});
