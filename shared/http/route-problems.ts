import type { ProblemCode } from "../platform/problem.ts";
import { knownParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

/** Problems that an endpoint can answer with besides those that it declares: they follow from its declaration. */
function impliedProblems(route: Route): ProblemCode[] {
  const codes: ProblemCode[] = ["internal_error", "dependency_unavailable"];
  if (route.limit !== null) codes.push("rate_limited");
  if (route.auth !== "none") codes.push("unauthenticated", "cross_site_request");
  if (["session", "scoped", "admin"].includes(route.auth)) codes.push("session_required");
  if (route.subject !== undefined) codes.push("insufficient_scope");
  if (route.auth === "admin") codes.push("forbidden");
  const mayHaveBody = route.method !== "get";
  const parsed = mayHaveBody && route.accepts?.asBytes !== true;
  const invalid = route.accepts?.invalid;
  const validated = parsed && invalid === undefined;
  if (route.params !== undefined || route.query !== undefined || validated) codes.push("validation_failed");
  if (knownParameters(route) !== null) codes.push("unrecognized_parameter");
  if (validated) codes.push("unrecognized_field");
  if (parsed) codes.push("malformed_json");
  if (invalid !== undefined) codes.push(invalid);
  if (mayHaveBody) codes.push("payload_too_large", "unsupported_media_type");
  if (route.idempotent === true) codes.push("idempotency_in_progress", "idempotency_key_reused");
  return codes;
}

/** Every problem that an endpoint can answer with. */
export function problemsOf(route: Route): ProblemCode[] {
  return [...new Set([...(route.problems ?? []), ...impliedProblems(route)])];
}
