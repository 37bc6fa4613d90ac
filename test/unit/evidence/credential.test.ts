import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildCredential, type CertificationInput } from "../../../shared/evidence/credential.ts";
import { jwks } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import { verifyStatement } from "../../../shared/evidence/verify.ts";
import { BASE_URL, keys, kid } from "./fixtures.ts";

const input: CertificationInput = {
  base_url: BASE_URL,
  agent: { id: "01980000-0000-7000-8000-00000000000a", name: "Ada" },
  certification: {
    id: "01980000-0000-7000-8000-00000000000c",
    score: 92.4,
    issued_at: "2026-11-21T09:00:00.000Z",
    expires_at: "2027-02-19T09:00:00.000Z",
    status_index: 131_080,
  },
  screening: {
    screening_session_id: "01980000-0000-7000-8000-00000000000b",
    repeats: 5,
    suites: [{ id: "01980000-0000-7000-8000-000000000004", slug: "core", version: 3 }],
    domains: [
      { domain: "coding", tasks: 2, runs: 10, passed: 9 },
      { domain: "math", tasks: 1, runs: 5, passed: 5 },
    ],
  },
};

describe("buildCredential", () => {
  it("is a Verifiable Credential 2.0 with the members of a certification and no more", () => {
    expect(buildCredential(input)).toEqual({
      "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"],
      id: "urn:uuid:01980000-0000-7000-8000-00000000000c",
      type: ["VerifiableCredential", "AgentCertificationCredential"],
      issuer: "did:web:screening.example",
      validFrom: "2026-11-21T09:00:00.000Z",
      validUntil: "2027-02-19T09:00:00.000Z",
      credentialStatus: {
        type: "BitstringStatusListEntry",
        statusPurpose: "revocation",
        statusListIndex: "8",
        statusListCredential: "https://screening.example/api/v1/credentials/status/1",
      },
      credentialSubject: {
        id: "urn:uuid:01980000-0000-7000-8000-00000000000a",
        name: "Ada",
        url: "https://screening.example/agents/01980000-0000-7000-8000-00000000000a",
        certification: {
          score: "92.40",
          tasks: 3,
          runs: 15,
          screening_session_id: "01980000-0000-7000-8000-00000000000b",
          repeats: 5,
          suites: [{ id: "01980000-0000-7000-8000-000000000004", slug: "core", version: 3 }],
          domains: [
            { domain: "coding", tasks: 2, runs: 10, passed: 9 },
            { domain: "math", tasks: 1, runs: 5, passed: 5 },
          ],
        },
      },
    });
  });

  it("can be signed whatever the agent is called, and says its score to two places", async () => {
    const name = fc.string({ unit: "binary" });
    const score = fc.double({ min: 0, max: 100, noNaN: true });
    await fc.assert(
      fc.asyncProperty(name, score, async (called, points) => {
        const credential = buildCredential({
          ...input,
          agent: { ...input.agent, name: `${called}\ud800` },
          certification: { ...input.certification, score: points },
        });
        expect(credential.credentialSubject.certification.score).toMatch(/^\d{1,3}\.\d\d$/);
        const jws = await signStatement(credential, keys.active, kid);
        expect(await verifyStatement(jws, jwks(BASE_URL, keys).keys)).toEqual({
          valid: true,
          statement: credential,
          kid,
        });
      }),
      { numRuns: 50 },
    );
  });

  it.each<[what: string, changes: Partial<CertificationInput>, message: string]>([
    ["a score above 100", { certification: { ...input.certification, score: 100.01 } }, "score is not from 0 to 100"],
    ["half a repeat", { screening: { ...input.screening, repeats: 2.5 } }, "repeats is not an integer"],
    [
      "a suite without a version",
      { screening: { ...input.screening, suites: [{ id: "a", slug: "b", version: Number.NaN }] } },
      "version is not an integer",
    ],
    [
      "half a pass",
      { screening: { ...input.screening, domains: [{ domain: "math", tasks: 1, runs: 1, passed: 0.5 }] } },
      "passed is not an integer",
    ],
    [
      "no place in a list",
      { certification: { ...input.certification, status_index: -1 } },
      "status_index is not an integer from 0",
    ],
  ])("refuses %s", (_what, changes, message) => {
    expect(() => buildCredential({ ...input, ...changes })).toThrow(new RangeError(message));
  });
});
