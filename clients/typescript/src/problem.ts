import type { components } from "./generated/service.ts";

/** What the service says of a request that it refuses: an RFC 9457 problem with a stable `code`. */
export type Problem = components["schemas"]["Problem"];

/** An answer of the service that is not what was asked for. `code` is stable, the message is for people. */
export class ServiceError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The problem's code; `unknown` where the answer was no problem of the service, as that of a proxy between. */
  readonly code: string;
  /** The whole problem, where it was one. */
  readonly problem: Problem | undefined;
  /** By which the service's operators find the request. */
  readonly requestId: string | undefined;

  constructor(response: Response, problem?: Problem, message = answered(response)) {
    super(problem === undefined ? message : messageOf(problem));
    this.name = "ServiceError";
    this.status = response.status;
    this.code = problem?.code ?? "unknown";
    this.problem = problem;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
  }
}

/** A problem as a person reads it: its code, what it says, and each finding. */
export function messageOf({ code, detail, title, errors = [] }: Problem): string {
  const findings = errors.map(({ in: where, pointer, message }) => `${where} ${pointer}: ${message}`);
  return [`${code}: ${detail ?? title}`, ...findings].join("\n  ");
}

/** An answer that is no problem of the service, in words. */
function answered(response: Response): string {
  const { url, status, ok } = response;
  const other = ` with ${typeOf(response) || "nothing"}, which is not the service's answer: is its address right?`;
  return `${url} answered ${status}${ok ? other : ""}`;
}

/** The media type that an answer names; nothing where it names none. */
export function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

/** The error that an answer stands for; reads its body. */
export async function errorOf(response: Response): Promise<ServiceError> {
  const body: unknown = await response.json().catch(() => undefined);
  return new ServiceError(response, isProblem(body) ? body : undefined);
}

/**
 * The data of an answer of `GET`, `POST` and the others. Of a 204 it is undefined.
 * @throws ServiceError for what the service refuses
 * @example
 * const agent = await given(client.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));
 */
export async function given<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Exclude<T, undefined>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ServiceError(response, isProblem(error) ? error : undefined);
  if (data === undefined && response.status !== 204) throw new ServiceError(response);
  return defined(data);
}

/** A 204 has no type but undefined, so nothing is lost by saying that the data is there. */
function defined<T>(data: T | undefined): Exclude<T, undefined>;
function defined(data: unknown): unknown {
  return data;
}

/** Whether JSON is a problem of the service. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "title" in value;
}
