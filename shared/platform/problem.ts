/** The one table of error codes: every problem the service can answer with, its HTTP status and its title. */
export const PROBLEMS = {
  malformed_json: [400, "The body is not valid JSON"],
  invalid_graphql_request: [400, "The body is not a GraphQL request"],
  malformed_otlp: [400, "The body is not a valid OTLP export"],
  invalid_token: [400, "The token is not valid"],
  authorization_pending: [400, "Nobody has decided yet"],
  slow_down: [400, "The program asks too often"],
  expired_token: [400, "The code has expired"],
  access_denied: [400, "The program was refused"],
  invalid_signature: [400, "The signature is not valid"],
  unauthenticated: [401, "Credentials are needed"],
  invalid_credentials: [401, "The email or the password is wrong"],
  second_factor_required: [401, "The second factor is needed"],
  invalid_second_factor: [401, "The code is not valid"],
  invalid_refresh: [401, "The refresh credential is not valid"],
  quota_exceeded: [402, "The plan's limit is reached"],
  plan_required: [402, "The plan does not include this"],
  payment_failed: [402, "The payment did not go through"],
  forbidden: [403, "This is not allowed"],
  session_required: [403, "A session is needed, an API key is not enough"],
  insufficient_scope: [403, "The API key's scope is too narrow"],
  cross_site_request: [403, "The request comes from another site"],
  trial_not_allowed: [403, "The agent's owner does not allow trials"],
  not_found: [404, "Not found"],
  method_not_allowed: [405, "The method is not allowed here"],
  not_acceptable: [406, "No media type that is asked for can be sent"],
  duplicate_name: [409, "The name is taken"],
  email_taken: [409, "The email is taken"],
  username_taken: [409, "The username is taken"],
  idempotency_in_progress: [409, "The first request with this key is still running"],
  second_factor_active: [409, "The account has a second factor"],
  passkey_taken: [409, "The passkey is registered already"],
  password_account: [409, "The account has a password"],
  last_way_in: [409, "The account could not be signed in to any more"],
  agent_inactive: [409, "The agent is not active"],
  agent_not_live: [409, "The agent has no live connection"],
  key_inactive: [409, "The API key is not active"],
  run_in_progress: [409, "The run is under way"],
  report_too_late: [409, "The report came too late"],
  submission_closed: [409, "The submission was decided otherwise"],
  already_member: [409, "The account is a member already"],
  workspace_ownership: [409, "A workspace has to be handed over first"],
  account_leaving: [409, "The account awaits its deletion"],
  workspace_not_empty: [409, "The workspace still has active agents"],
  webhook_inactive: [409, "The webhook is turned off"],
  payment_in_progress: [409, "The same payment is being prepared"],
  no_subscription: [409, "There is no paid plan"],
  already_certified: [409, "The agent has a certification in force"],
  certification_in_progress: [409, "The agent is being certified"],
  seller_not_ready: [409, "The seller can't be paid yet"],
  already_listed: [409, "The agent is listed already"],
  own_listing: [409, "The listing is your own"],
  provider_custody_retired: [410, "The connection mode is retired"],
  payload_too_large: [413, "The body is too large"],
  unsupported_media_type: [415, "The media type is not supported"],
  validation_failed: [422, "The request is not valid"],
  unrecognized_field: [422, "The body has a field that is not known"],
  unrecognized_parameter: [422, "The query has a parameter that is not known"],
  weak_password: [422, "The password is too weak"],
  conflicting_parameters: [422, "Parameters exclude each other"],
  invalid_cursor: [422, "The cursor does not fit the request"],
  feature_disabled: [422, "The feature is switched off"],
  idempotency_key_reused: [422, "The idempotency key was used with another request"],
  endpoint_not_allowed: [422, "The URL is not allowed"],
  manifest_invalid: [422, "The manifest can't be registered"],
  eu_waiver_required: [422, "The right of withdrawal has to be waived"],
  not_regradable: [422, "The run can't be graded again"],
  suite_unavailable: [422, "The suite can't be run"],
  task_unavailable: [422, "A task can't be run"],
  invalid_variant: [422, "The variant's root does not fit"],
  rate_limited: [429, "Too many requests"],
  too_many_streams: [429, "Too many event streams are open"],
  login_locked: [429, "Too many failed sign-ins"],
  internal_error: [500, "Something went wrong on our side"],
  code_host_not_configured: [503, "Sign-in by the code host is not set up"],
  payment_not_configured: [503, "Payments are not set up"],
  billing_disabled: [503, "Payments are switched off"],
  certify_disabled: [503, "Certification is switched off"],
  streams_full: [503, "No more event streams can be open"],
  dependency_unavailable: [503, "A part of the service does not answer"],
} as const satisfies Record<string, readonly [number, string]>;

/** A code of the closed table. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Whether a text is a code of the table. */
export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** One finding about a request, as it stands in `errors`. */
export interface Finding {
  in: "body" | "query" | "path" | "header";
  pointer: string;
  code: string;
  message: string;
}

/** More about a problem: findings about the request, members of its own, and headers such as Retry-After. */
export interface ProblemExtras {
  errors?: Finding[];
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** An expected failure: thrown anywhere, turned into an RFC 9457 answer by the HTTP layer. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = "Problem";
    this.code = code;
    this.extras = extras;
  }

  get status(): (typeof PROBLEMS)[ProblemCode][0] {
    return PROBLEMS[this.code][0];
  }
}

/** A problem of one member of the body; `code` doubles as the finding's code. */
export function bodyProblem(code: ProblemCode, pointer: string, message: string): Problem {
  return new Problem(code, message, { errors: [{ in: "body", pointer, code, message }] });
}

/** How much of a limit is used, when it starts anew by itself, if it does, and whether a larger plan has more. */
interface Reached {
  limit: number;
  used: number;
  resets_at?: string;
  larger_plan?: boolean;
}

/** The 402 of a limit that is reached: one that neither time nor a plan raises, unless `reached` says so. */
export function quotaExceeded(detail: string, reached: Reached): Problem {
  return new Problem("quota_exceeded", detail, { members: { resets_at: null, larger_plan: false, ...reached } });
}

/** The 422 for query parameters that exclude each other. */
export function conflicting(names: readonly string[]): Problem {
  return new Problem("conflicting_parameters", `${names.join(" and ")} exclude each other; send one of them.`, {
    errors: names.map((name) => ({
      in: "query",
      pointer: `/${name}`,
      code: "conflicting_parameters",
      message: "Excludes the other one.",
    })),
  });
}

/** The 404 that says nothing about whether the thing exists for somebody else. */
export function notFound(what: string): Problem {
  return new Problem("not_found", `No such ${what}, or it is not visible to you.`);
}

/** The 401 for a credential that ended while its request was under way. */
export function endedMeanwhile(): Problem {
  return new Problem("unauthenticated", "These credentials ended at this moment, and nothing was made. Sign in again.");
}

const DAY_MS = 86_400_000;

/** What may be asked for again once the day (UTC) is over. */
export function usedUpToday(now: Date, message: string): Problem {
  const seconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000);
  return new Problem("rate_limited", message, { headers: { "Retry-After": String(seconds) } });
}
