import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeAt, otpauthUrl, randomBase32, stepAt, stepOf } from "../../../shared/identity/second-factor/totp.ts";

/** RFC 6238 appendix B: the ASCII text 12345678901234567890. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("a code of an authenticator app", () => {
  it.each([
    [59, "94287082"],
    [1111111109, "07081804"],
    [1111111111, "14050471"],
    [1234567890, "89005924"],
    [2000000000, "69279037"],
    [20000000000, "65353130"],
  ])("is what RFC 6238 has for SHA-1 at %i seconds", (seconds, code) => {
    const step = stepAt(new Date(seconds * 1000));
    expect(codeAt(SECRET, step, 8)).toBe(code);
    expect(codeAt(SECRET, step)).toBe(code.slice(2));
  });

  it("is taken a step early or late, never of a step up to the last one taken, whatever the secret and the time", () => {
    const step = fc.integer({ min: 2, max: 2 ** 31 });
    fc.assert(
      fc.property(step, fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 }), (present, off, last) => {
        const secret = randomBase32();
        const code = codeAt(secret, present + off);
        const near = [-1, 0, 1].filter((one) => codeAt(secret, present + one) === code && one > last);
        const now = new Date((present * 30 + 29.9) * 1000);
        expect(stepOf(secret, code, now, present + last)).toBe(near.length === 0 ? null : present + Math.max(...near));
      }),
    );
  });

  it("comes of a secret of 160 bits, told to the app by an address that names service and account", () => {
    const secret = randomBase32();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauthUrl(secret, "The service", "a+b@example.test"));
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual([
      "otpauth:",
      "totp",
      "/The service:a+b@example.test",
    ]);
    expect(url.search).not.toContain("+");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      secret,
      issuer: "The service",
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
  });
});
