import { bodyProblem, Problem } from "../../../shared/platform/problem.ts";
import { attempt, Field, type Wrong } from "./form.tsx";

export const CODE_LABELS = { code: "Code" };

/** The field for a code of the second factor. */
export function CodeField({ hint, wrong }: { hint: string; wrong: Wrong | undefined }) {
  return <Field label={CODE_LABELS.code} name="code" autocomplete="one-time-code" hint={hint} wrong={wrong} />;
}

/** As `attempt`, for the work behind a form with such a field: a code that is not taken is told there. */
export function attemptCode<T>(work: () => Promise<T>): Promise<T | Wrong> {
  return attempt(["code"], () =>
    work().catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== "invalid_second_factor") throw error;
      throw bodyProblem("invalid_second_factor", "/code", error.message);
    }),
  );
}
