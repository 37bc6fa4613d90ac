/** Why an exchange brought no answer: the `failure_code`s of a run that the agent's side answers for. */
export type ExchangeFailureCode =
  | "agent_timeout"
  | "agent_unreachable"
  | "agent_tls_error"
  | "agent_redirected"
  | "agent_invalid_response"
  | "agent_response_too_large"
  | "endpoint_not_allowed";

/** A failure as an owner may read it: the detail is short and reveals nothing about the inside of the service. */
export interface ExchangeFailure {
  failure_code: ExchangeFailureCode;
  detail: string;
}

const UNREACHABLE: ExchangeFailure = {
  failure_code: "agent_unreachable",
  detail: "The connection was refused or closed before the answer was complete.",
};
const TLS: ExchangeFailure = {
  failure_code: "agent_tls_error",
  detail: "The TLS handshake failed. The certificate must be valid for this host and publicly trusted.",
};
const TIMEOUT: ExchangeFailure = { failure_code: "agent_timeout", detail: "The other side did not answer in time." };
const UNREADABLE: ExchangeFailure = {
  failure_code: "agent_invalid_response",
  detail: "The answer is not valid HTTP, or its Content-Encoding could not be undone.",
};

const SHAPES: readonly (readonly [RegExp, ExchangeFailure])[] = [
  [/\b(?:TLS|SSL|EPROTO|HOSTNAME_MISMATCH|UNABLE_TO_\w+)\b|ERR_(?:TLS|SSL)_|CERT/i, TLS],
  [/\b(?:TimeoutError|ETIMEDOUT|UND_ERR_\w+_TIMEOUT)\b/, TIMEOUT],
  [/\b(?:Z_\w+_ERROR|HTTPParserError|HPE_\w+|UND_ERR_HEADERS_OVERFLOW)\b|decompress|compressed stream/i, UNREADABLE],
];

/**
 * Finds out whose fault it was from the error of a fetch or a body stream. Node and workerd throw differently: Node a
 * TypeError whose causes carry codes; workerd "Network connection lost." for any broken connection, and for a failed
 * TLS handshake nothing but "internal error", which is therefore read as TLS where the URL is https.
 */
export function classifyError(error: unknown, url: URL): ExchangeFailure {
  const text = describe(error);
  const shape = SHAPES.find(([pattern]) => pattern.test(text));
  if (shape) return shape[1];
  return url.protocol === "https:" && /\binternal error\b/.test(text) ? TLS : UNREACHABLE;
}

/**
 * The failure that a status of Cloudflare's own stands for, or null for any other status. In production fetch does not
 * throw when an origin can't be reached; the edge answers in its place: 520 closed without an answer, or with what is not
 * HTTP, 521 refused, 522 and 524 timed out, 523 no route, 525 and 526 TLS, 530 no DNS.
 */
export function edgeFailure(status: number): ExchangeFailure | null {
  if (status === 525 || status === 526) return TLS;
  if (status === 522 || status === 524) return TIMEOUT;
  if (status === 520 || status === 521 || status === 523 || status === 530) return UNREACHABLE;
  return null;
}

/** Names and codes of an error and its causes; a message only where there is no code, as it may quote the host. */
function describe(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    parts.push(current.name, "code" in current ? String(current.code) : current.message);
    current = current.cause;
  }
  return parts.join("\n");
}
