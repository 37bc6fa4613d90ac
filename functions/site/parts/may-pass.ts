import type { Problem } from "../../../shared/platform/problem.ts";

/**
 * Whether a problem may pass by itself, so that the same form is taken once it is sent again. One that is being worked on is
 * among them: shown anew it would have another key, and be done twice.
 */
export function mayPass({ status, code }: Problem): boolean {
  return status >= 500 || code === "idempotency_in_progress";
}
