import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildStatement, type EvidenceInput } from "../../../shared/evidence/statement.ts";
import { anyRun, passedRun } from "./fixtures.ts";

const withRun = (changes: Partial<EvidenceInput["run"]>): EvidenceInput => ({
  ...passedRun,
  run: { ...passedRun.run, ...changes },
});

describe("buildStatement", () => {
  it("is a Verifiable Credential 2.0 with the members of a run's evidence and no more", () => {
    expect(buildStatement(passedRun)).toEqual({
      "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"],
      id: "urn:uuid:01980000-0000-7000-8000-000000000001",
      type: ["VerifiableCredential", "ScreeningRunCredential"],
      issuer: "did:web:screening.example",
      validFrom: "2026-11-21T09:00:04.250Z",
      credentialSubject: {
        id: "urn:uuid:01980000-0000-7000-8000-00000000000a",
        name: "Ada",
        run: {
          id: "01980000-0000-7000-8000-000000000001",
          screening_session_id: "01980000-0000-7000-8000-000000000002",
          repeat_index: 1,
          repeat_total: 3,
          execution: "real",
          private: false,
          connection_mode: "http_endpoint",
          agent_protocol: "native",
          status: "completed",
          failure_code: null,
          started_at: "2026-11-21T09:00:00.000Z",
          finalized_at: "2026-11-21T09:00:04.250Z",
        },
        task: {
          id: "01980000-0000-7000-8000-000000000003",
          domain: "math",
          suite_id: "01980000-0000-7000-8000-000000000004",
          suite_version: 7,
          is_secret: false,
          template: { id: "math-ferry-reserve", version: 2 },
        },
        instance: { epoch: "2026-11-21", commitment: "d".repeat(64) },
        result: { grader_type: "numeric", grader_version: "1", correctness: "0.7500", passed: true, latency_ms: 3120 },
        cost: {
          amount_usd: "0.012300",
          source: "self_reported",
          partial: false,
          priced_calls: 2,
          unpriced_calls: 0,
          total_calls: 2,
          floor_applied: false,
        },
        architecture_hash: "a".repeat(64),
        commitments: { alg: "sha-256", request: "b".repeat(64), response: "c".repeat(64) },
      },
    });
  });

  it("writes null where a failed run outside a session has nothing to say", () => {
    const failed = {
      ...withRun({
        screening_session_id: null,
        repeat_index: null,
        repeat_total: null,
        status: "failed",
        failure_code: "agent_timeout",
        correctness: 0,
        passed: false,
        latency_ms: null,
        evidence_cost_usd: null,
        evidence_cost_source: "unavailable",
      }),
      task: { ...passedRun.task, suite_id: null, suite_version: null, template: null },
      instance: null,
      architecture_hash: null,
      commitments: { request: "b".repeat(64), response: null },
    };
    expect(buildStatement(failed).credentialSubject).toMatchObject({
      run: { screening_session_id: null, repeat_index: null, repeat_total: null, failure_code: "agent_timeout" },
      task: { suite_id: null, suite_version: null, template: null },
      instance: null,
      result: { correctness: "0.0000", passed: false, latency_ms: null },
      cost: { amount_usd: null, source: "unavailable" },
      architecture_hash: null,
      commitments: { response: null },
    });
  });

  it.each([
    [0, "0.0000"],
    [1, "1.0000"],
    [1 / 3, "0.3333"],
    [1e-7, "0.0000"],
  ])("writes a correctness of %d as %s", (correctness, text) => {
    expect(buildStatement(withRun({ correctness })).credentialSubject.result.correctness).toBe(text);
  });

  it.each([
    [0, "0.000000"],
    [0.000001, "0.000001"],
    [1e-7, "0.000000"],
    [61_000_000.5, "61000000.500000"],
  ])("writes a cost of %d as %s", (evidence_cost_usd, text) => {
    expect(buildStatement(withRun({ evidence_cost_usd })).credentialSubject.cost.amount_usd).toBe(text);
  });

  it("mends a name that RFC 8785 cannot express", () => {
    const statement = buildStatement({ ...passedRun, agent: { ...passedRun.agent, name: "A\ud800da" } });
    expect(statement.credentialSubject.name).toBe("A\ufffdda");
  });

  const refused: [what: string, changes: Partial<EvidenceInput["run"]>, message: string][] = [
    ["a fraction of a millisecond", { latency_ms: 12.5 }, "latency_ms is not an integer"],
    ["a repeat that is not a number", { repeat_index: Number.NaN }, "repeat_index is not an integer"],
    [
      "a count beyond exact integers",
      { evidence_total_call_count: 2 ** 53 },
      "evidence_total_call_count is not an integer",
    ],
    ["a correctness above 1", { correctness: 1.01 }, "correctness is not from 0 to 1"],
    ["a correctness that is not a number", { correctness: Number.NaN }, "correctness is not from 0 to 1"],
    ["a negative cost", { evidence_cost_usd: -1 }, "evidence_cost_usd is not from 0 to 1000000000"],
    [
      "an endless cost",
      { evidence_cost_usd: Number.POSITIVE_INFINITY },
      "evidence_cost_usd is not from 0 to 1000000000",
    ],
  ];
  it.each(refused)("refuses %s", (_, changes, message) => {
    expect(() => buildStatement(withRun(changes))).toThrow(new RangeError(message));
  });

  it("holds no number but integers, for any run", () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const numbers = leaves(buildStatement(run)).filter((leaf) => typeof leaf === "number");
        expect(numbers.length).toBeGreaterThan(0);
        expect(numbers.every((number) => Number.isSafeInteger(number))).toBe(true);
      }),
    );
  });

  it("has the same members for any run", () => {
    const members = (value: unknown, path = ""): string[] =>
      typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([name, member]) => [`${path}/${name}`, ...members(member, `${path}/${name}`)])
        : [];
    const expected = members(buildStatement(passedRun));
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(members(buildStatement(run))).toEqual(expected);
      }),
    );
  });
});

function leaves(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value];
}
