import { databaseFailure } from "../db/client.ts";
import type { Context } from "../platform/context.ts";
import { type Finding, PROBLEMS, Problem, type ProblemCode } from "../platform/problem.ts";

/** Turns anything thrown into a Problem. An unexpected error becomes `internal_error`, which says nothing about it. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const failure = databaseFailure(error);
  if (failure !== null && isOutage(failure.code)) {
    return new Problem("dependency_unavailable", "The database is not answering. Try again in a few seconds.", {
      headers: { "Retry-After": "5" },
    });
  }
  return new Problem(
    "internal_error",
    "Something went wrong on our side. Try again; if it happens again, send us the request id.",
  );
}

/**
 * Without an SQLSTATE, or with one of the classes connection (08), resources (53), operator (57), system (58, as where
 * Neon's storage does not answer) and rollback (40).
 */
function isOutage(code: string | null): boolean {
  return code === null || ["08", "53", "57", "58", "40"].includes(code.slice(0, 2));
}

/** The address that tells problems of this kind apart; a page that explains it is there. */
export function problemType(code: ProblemCode, baseUrl: string): string {
  return `${baseUrl}/docs/problems#${code}`;
}

/** What a problem finds in the request. Every 422 says where it looks: one that names no place of its own, at the body. */
function findingsOf({ code, status, message, extras }: Problem): readonly Finding[] | undefined {
  if (extras.errors !== undefined || status !== 422) return extras.errors;
  return [{ in: "body", pointer: "", code, message }];
}

/** The RFC 9457 answer for a problem. The lockout's has no request id, so that it is the same bytes each time. */
export function problemResponse(problem: Problem, { env, requestId }: Pick<Context, "env" | "requestId">): Response {
  const [status, title] = PROBLEMS[problem.code];
  const errors = findingsOf(problem);
  const body = {
    type: problemType(problem.code, env.BASE_URL),
    title,
    status,
    detail: problem.message,
    code: problem.code,
    ...(problem.code === "login_locked" ? {} : { request_id: requestId }),
    ...(errors === undefined ? {} : { errors }),
    ...problem.extras.members,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
      ...problem.extras.headers,
    },
  });
}
