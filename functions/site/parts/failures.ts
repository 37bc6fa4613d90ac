import type { FailureCode } from "../../../shared/runs/answer.ts";

const WORDS: Readonly<Record<FailureCode, string>> = {
  agent_timeout: "The agent did not answer by its deadline.",
  agent_unreachable: "No connection to the agent's endpoint came about, or it broke off.",
  agent_tls_error: "The endpoint's certificate is not valid for its name.",
  agent_http_error: "The agent answered with an error instead of an answer.",
  agent_redirected: "The endpoint redirects elsewhere, which is not followed.",
  agent_invalid_response: "What the agent sent is not in the form of its protocol.",
  agent_response_too_large: "The agent's answer is larger than one may be.",
  agent_reported_failure: "The agent said itself that it failed.",
  endpoint_not_allowed: "The endpoint's address is none that the service calls: it has to be public.",
  service_error: "The service failed, not the agent: the run is given back, and counts nowhere.",
};

/** Why a run failed, in a sentence for everybody; the code's own words where it is a new one. */
export function failureInWords(code: string): string {
  return Object.entries(WORDS).find(([known]) => known === code)?.[1] ?? `${code.replaceAll("_", " ")}.`;
}
