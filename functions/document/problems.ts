import { problemType } from "../../shared/http/problems.ts";
import { isProblemCode, PROBLEMS } from "../../shared/platform/problem.ts";
import { ADVICE } from "./advice.ts";

const REQUEST_ID = "0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12";

/** Problems that tell where in the request they are. */
const FINDINGS: Readonly<Record<string, { in: string; pointer: string; message: string }>> = {
  validation_failed: { in: "body", pointer: "/repeats", message: "Give a whole number from 1 to 10." },
  unrecognized_field: { in: "body", pointer: "/repeat", message: "This field is not known; the nearest is repeats." },
  unrecognized_parameter: {
    in: "query",
    pointer: "/per_page",
    message: "This endpoint does not know this parameter; the nearest known one is page.",
  },
  idempotency_key_reused: { in: "header", pointer: "/Idempotency-Key", message: ADVICE.idempotency_key_reused },
};

/** An example of each problem that an operation answers with, by its code: the components that answers refer to. */
export function problemExamples(
  baseUrl: string,
  used: ReadonlySet<string>,
): Record<string, { summary: string; value: unknown }> {
  return Object.fromEntries(
    Object.entries(PROBLEMS).flatMap(([code, [status, title]]) => {
      if (!isProblemCode(code) || !used.has(code)) return [];
      const finding =
        FINDINGS[code] ?? (status === 422 ? { in: "body", pointer: "", message: ADVICE[code] } : undefined);
      const value = {
        type: problemType(code, baseUrl),
        title,
        status,
        detail: ADVICE[code],
        code,
        request_id: REQUEST_ID,
        ...(finding === undefined ? {} : { errors: [{ ...finding, code }] }),
        ...(code === "quota_exceeded"
          ? { limit: 1000, used: 1000, resets_at: "2026-12-01T00:00:00.000Z", larger_plan: true }
          : {}),
      };
      return [[code, { summary: title, value }] as const];
    }),
  );
}
