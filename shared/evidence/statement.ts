import { didWeb } from "./did.ts";

/** A W3C Verifiable Credential 2.0, unsecured. */
export interface Credential {
  "@context": string[];
  /** An absolute URI of the credential. */
  id: string;
  type: string[];
  /** The issuer's DID. */
  issuer: string;
  /** ISO 8601, UTC. */
  validFrom: string;
  validUntil?: string;
  credentialSubject: object;
}

/**
 * The JSON-LD contexts of a statement: the second gives terms outside the standard a meaning of their issuer's (VC Data
 * Model 2.0, 5.2).
 */
export const CONTEXTS = [
  "https://www.w3.org/ns/credentials/v2",
  "https://www.w3.org/ns/credentials/undefined-terms/v2",
] as const;

/** What a run's statement is made of; names and units are those of the run, the task and the agent. */
export interface EvidenceInput {
  /** Where the service is reached; its host is the issuer. */
  base_url: string;
  agent: { id: string; name: string; connection_mode: string; agent_protocol: string };
  run: {
    id: string;
    screening_session_id: string | null;
    repeat_index: number | null;
    repeat_total: number | null;
    is_private: boolean;
    status: "completed" | "failed";
    failure_code: string | null;
    /** ISO 8601, UTC, like `finalized_at`, from which on the statement is valid. */
    started_at: string;
    finalized_at: string;
    /** 0 to 1. */
    correctness: number;
    passed: boolean;
    latency_ms: number | null;
    evidence_cost_usd: number | null;
    evidence_cost_source: string;
    evidence_cost_partial: boolean;
    evidence_priced_call_count: number;
    evidence_unpriced_call_count: number;
    evidence_total_call_count: number;
    evidence_cost_floor_applied: boolean;
  };
  task: {
    id: string;
    domain: string;
    suite_id: string | null;
    suite_version: number | null;
    is_secret: boolean;
    grader_type: string;
    grader_version: string;
    /** The template that the run's instance was drawn from; null for a task with a fixed text. */
    template: { id: string; version: number } | null;
  };
  /** The epoch whose secret the instance was drawn by, and the commitment to it in hex; null for a fixed text. */
  instance: { epoch: string; commitment: string } | null;
  architecture_hash: string | null;
  /** Digests of the commitments to what was sent and to what came back, in hex. */
  commitments: { request: string; response: string | null };
}

/** The signed statement of a real run. It holds no number but integers: other amounts are decimal strings. */
export interface EvidenceStatement extends Credential {
  credentialSubject: {
    id: string;
    name: string;
    run: {
      id: string;
      screening_session_id: string | null;
      repeat_index: number | null;
      repeat_total: number | null;
      execution: "real";
      /** It counts for nothing, and who asked for it chooses whether anybody sees it; statements of before have no such member. */
      private: boolean;
      connection_mode: string;
      agent_protocol: string;
      status: "completed" | "failed";
      failure_code: string | null;
      started_at: string;
      finalized_at: string;
    };
    task: {
      id: string;
      domain: string;
      suite_id: string | null;
      suite_version: number | null;
      is_secret: boolean;
      template: { id: string; version: number } | null;
    };
    instance: { epoch: string; commitment: string } | null;
    result: {
      grader_type: string;
      grader_version: string;
      correctness: string;
      passed: boolean;
      latency_ms: number | null;
    };
    cost: {
      amount_usd: string | null;
      source: string;
      partial: boolean;
      priced_calls: number;
      unpriced_calls: number;
      total_calls: number;
      /** A call was reported below its floor, and `amount_usd` has it at that. */
      floor_applied: boolean;
    };
    architecture_hash: string | null;
    commitments: { alg: "sha-256"; request: string; response: string | null };
  };
}

/**
 * The statement of a run. The same run gives the same statement, so that signing it again changes nothing.
 *
 * @throws RangeError that names a member which has to be an integer or an amount in its range and is not.
 */
export function buildStatement(input: EvidenceInput): EvidenceStatement {
  const { agent, run, task } = input;
  const { template } = task;
  return {
    "@context": [...CONTEXTS],
    id: `urn:uuid:${run.id}`,
    type: ["VerifiableCredential", "ScreeningRunCredential"],
    issuer: didWeb(input.base_url),
    validFrom: run.finalized_at,
    credentialSubject: {
      id: `urn:uuid:${agent.id}`,
      // RFC 8785 has no form for a lone surrogate.
      name: agent.name.toWellFormed(),
      run: {
        id: run.id,
        screening_session_id: run.screening_session_id,
        repeat_index: integer("repeat_index", run.repeat_index),
        repeat_total: integer("repeat_total", run.repeat_total),
        execution: "real",
        private: run.is_private,
        connection_mode: agent.connection_mode,
        agent_protocol: agent.agent_protocol,
        status: run.status,
        failure_code: run.failure_code,
        started_at: run.started_at,
        finalized_at: run.finalized_at,
      },
      task: {
        id: task.id,
        domain: task.domain,
        suite_id: task.suite_id,
        suite_version: integer("suite_version", task.suite_version),
        is_secret: task.is_secret,
        template: template === null ? null : { id: template.id, version: integer("template", template.version) },
      },
      instance: input.instance,
      result: {
        grader_type: task.grader_type,
        grader_version: task.grader_version,
        correctness: decimal("correctness", run.correctness, 4, 1),
        passed: run.passed,
        latency_ms: integer("latency_ms", run.latency_ms),
      },
      cost: {
        amount_usd: run.evidence_cost_usd === null ? null : decimal("evidence_cost_usd", run.evidence_cost_usd, 6),
        source: run.evidence_cost_source,
        partial: run.evidence_cost_partial,
        priced_calls: integer("evidence_priced_call_count", run.evidence_priced_call_count),
        unpriced_calls: integer("evidence_unpriced_call_count", run.evidence_unpriced_call_count),
        total_calls: integer("evidence_total_call_count", run.evidence_total_call_count),
        floor_applied: run.evidence_cost_floor_applied,
      },
      architecture_hash: input.architecture_hash,
      commitments: { alg: "sha-256", request: input.commitments.request, response: input.commitments.response },
    },
  };
}

/** The value as it is; throws RangeError that names it when it is neither null nor a safe integer. */
export function integer<T extends number | null>(name: string, value: T): T {
  if (value !== null && !Number.isSafeInteger(value)) throw new RangeError(`${name} is not an integer`);
  return value;
}

/**
 * The value as a decimal string with so many `places`; throws RangeError that names it when it is not from 0 to `max`:
 * above a billion a double has no six decimals left, and no run costs that.
 * @example
 * decimal("score", 92.4, 2, 100) // "92.40"
 */
export function decimal(name: string, value: number, places: number, max = 1e9): string {
  if (!(value >= 0 && value <= max)) throw new RangeError(`${name} is not from 0 to ${max}`);
  return value.toFixed(places);
}
