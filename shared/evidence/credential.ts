import { didWeb } from "./did.ts";
import { CONTEXTS, type Credential, decimal, integer } from "./statement.ts";
import { type StatusEntry, statusEntry } from "./status-list.ts";

/** The type of a certification's credential beside VerifiableCredential. */
export const CERTIFICATION_CREDENTIAL = "AgentCertificationCredential";

/** What of a screening stands behind a certification: all its runs but those that failed by the service's own fault. */
export interface ScreeningSummary {
  screening_session_id: string;
  /** Runs of each task. */
  repeats: number;
  /** `version` is the last that was graded; null where nothing was. */
  suites: { id: string; slug: string; version: number | null }[];
  domains: { domain: string; tasks: number; runs: number; passed: number }[];
}

/** What a certification's credential is made of. */
export interface CertificationInput {
  /** Where the service is reached; its host is the issuer. */
  base_url: string;
  agent: { id: string; name: string };
  certification: {
    id: string;
    /** The composite score of the certification's screening, 0 to 100. */
    score: number;
    /** ISO 8601, UTC, like `expires_at`: between them the credential is in force. */
    issued_at: string;
    expires_at: string;
    /** Its place among all certifications, from 0, which is its place in the status lists. */
    status_index: number;
  };
  screening: ScreeningSummary;
}

/** The credential of a certified agent. It holds no number but integers: the score is a decimal string. */
export interface CertificationCredential extends Credential {
  validUntil: string;
  credentialStatus: StatusEntry;
  credentialSubject: {
    /** The same as in the evidence of the agent's runs. */
    id: string;
    name: string;
    url: string;
    certification: { score: string; tasks: number; runs: number } & ScreeningSummary;
  };
}

/**
 * The credential of a certification (W3C Verifiable Credentials Data Model 2.0), to be secured by `signStatement`; its
 * status is looked up in a Bitstring Status List. The same certification gives the same credential.
 *
 * @throws RangeError that names a member which has to be an integer or an amount in its range and is not.
 * @example
 * await signStatement(buildCredential({ base_url, agent, certification, screening }), key, kid)
 */
export function buildCredential(input: CertificationInput): CertificationCredential {
  const { agent, certification, screening } = input;
  const sum = (member: "tasks" | "runs") => screening.domains.reduce((all, domain) => all + domain[member], 0);
  return {
    "@context": [...CONTEXTS],
    id: `urn:uuid:${certification.id}`,
    type: ["VerifiableCredential", CERTIFICATION_CREDENTIAL],
    issuer: didWeb(input.base_url),
    validFrom: certification.issued_at,
    validUntil: certification.expires_at,
    credentialStatus: statusEntry(input.base_url, certification.status_index),
    credentialSubject: {
      id: `urn:uuid:${agent.id}`,
      // RFC 8785 has no form for a lone surrogate.
      name: agent.name.toWellFormed(),
      url: new URL(`/agents/${agent.id}`, input.base_url).href,
      certification: {
        score: decimal("score", certification.score, 2, 100),
        tasks: integer("tasks", sum("tasks")),
        runs: integer("runs", sum("runs")),
        screening_session_id: screening.screening_session_id,
        repeats: integer("repeats", screening.repeats),
        suites: screening.suites.map(({ id, slug, version }) => ({ id, slug, version: integer("version", version) })),
        domains: screening.domains.map(({ domain, tasks, runs, passed }) => ({
          domain,
          tasks: integer("tasks", tasks),
          runs: integer("runs", runs),
          passed: integer("passed", passed),
        })),
      },
    },
  };
}
