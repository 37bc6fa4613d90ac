import { Problem, type ProblemCode } from "../../../shared/platform/problem.ts";

/**
 * What is asked for; null where the interface answers with a problem of this code. Rejects with any other. What is to be
 * deleted and is not found is gone: its button was pressed twice, or in another tab.
 */
export async function unless<T>(code: ProblemCode, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.code === code) return null;
    throw error;
  }
}
