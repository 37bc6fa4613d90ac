import * as fc from "fast-check";
import { keyId } from "../../../shared/evidence/did.ts";
import type { EvidenceInput } from "../../../shared/evidence/statement.ts";
import { loadSigningKeys, type SigningKeys } from "../../../shared/platform/keys.ts";

export const BASE_URL = "https://screening.example";

/** The key of RFC 8037 appendix A, and its thumbprint. */
export const RFC8037_JWK = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
export const RFC8037_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";

/** A retired key: its private half is gone. */
export const RETIRED_JWK = { kty: "OKP", crv: "Ed25519", x: "AgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" };

/** A set of the RFC's key and a retired one. */
export const keys: SigningKeys = await loadSigningKeys(JSON.stringify({ keys: [RFC8037_JWK, RETIRED_JWK] }));
export const kid = keyId(BASE_URL, keys.active);

/** A passed run with every member set. */
export const passedRun: EvidenceInput = {
  base_url: BASE_URL,
  agent: {
    id: "01980000-0000-7000-8000-00000000000a",
    name: "Ada",
    connection_mode: "http_endpoint",
    agent_protocol: "native",
  },
  run: {
    id: "01980000-0000-7000-8000-000000000001",
    screening_session_id: "01980000-0000-7000-8000-000000000002",
    repeat_index: 1,
    repeat_total: 3,
    is_private: false,
    status: "completed",
    failure_code: null,
    started_at: "2026-11-21T09:00:00.000Z",
    finalized_at: "2026-11-21T09:00:04.250Z",
    correctness: 0.75,
    passed: true,
    latency_ms: 3120,
    evidence_cost_usd: 0.0123,
    evidence_cost_source: "self_reported",
    evidence_cost_partial: false,
    evidence_priced_call_count: 2,
    evidence_unpriced_call_count: 0,
    evidence_total_call_count: 2,
    evidence_cost_floor_applied: false,
  },
  task: {
    id: "01980000-0000-7000-8000-000000000003",
    domain: "math",
    suite_id: "01980000-0000-7000-8000-000000000004",
    suite_version: 7,
    is_secret: false,
    grader_type: "numeric",
    grader_version: "1",
    template: { id: "math-ferry-reserve", version: 2 },
  },
  instance: { epoch: "2026-11-21", commitment: "d".repeat(64) },
  architecture_hash: "a".repeat(64),
  commitments: { request: "b".repeat(64), response: "c".repeat(64) },
};

const count = fc.nat(1_000_000);
const text = fc.string({ unit: "binary", maxLength: 20 });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"));
const instant = fc
  .date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Any run that the service could have screened. */
export const anyRun: fc.Arbitrary<EvidenceInput> = fc.record({
  base_url: fc.constantFrom(BASE_URL, "http://127.0.0.1:8787"),
  agent: fc.record({ id: fc.uuid(), name: text, connection_mode: text, agent_protocol: text }),
  run: fc.record({
    id: fc.uuid(),
    screening_session_id: fc.option(fc.uuid()),
    repeat_index: fc.option(count),
    repeat_total: fc.option(count),
    is_private: fc.boolean(),
    status: fc.constantFrom("completed", "failed"),
    failure_code: fc.option(text),
    started_at: instant,
    finalized_at: instant,
    correctness: fc.double({ min: 0, max: 1, noNaN: true }),
    passed: fc.boolean(),
    latency_ms: fc.option(count),
    evidence_cost_usd: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
    evidence_cost_source: text,
    evidence_cost_partial: fc.boolean(),
    evidence_priced_call_count: count,
    evidence_unpriced_call_count: count,
    evidence_total_call_count: count,
    evidence_cost_floor_applied: fc.boolean(),
  }),
  task: fc.record({
    id: fc.uuid(),
    domain: text,
    suite_id: fc.option(fc.uuid()),
    suite_version: fc.option(count),
    is_secret: fc.boolean(),
    grader_type: text,
    grader_version: text,
    template: fc.record({ id: text, version: count }),
  }),
  instance: fc.record({ epoch: text, commitment: hash }),
  architecture_hash: fc.option(hash),
  commitments: fc.record({ request: hash, response: fc.option(hash) }),
});
