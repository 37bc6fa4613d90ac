import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { Run } from "./session-runs.ts";

/** Each takes a request: so many are asked for at a time, and for so long, in milliseconds. */
const [AT_ONCE, LONGEST_MS] = [4, 10_000];
/** So many requests of what the key may still ask this minute or day are left for what comes next, and for jobs beside this one. */
const LEAST_LEFT = 15;

/**
 * How the grades of these runs came about, by their ids, the first ones first: as far as the key's limits go without waiting for
 * them. What is missing stands on the page of its run, to which every report leads, so nothing that goes wrong here is an error.
 */
export async function explanationsOf(client: ScreeningClient, runs: readonly Run[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), LONGEST_MS);
  const waiting = runs.values();
  let isOver = false;
  const read = async () => {
    for (const { id: run_id } of waiting) {
      const params = { path: { run_id } };
      const { signal } = patience;
      const { data, response } = await client.GET("/api/v1/runs/{run_id}/output", { params, signal });
      if (data?.explanation != null) found.set(run_id, data.explanation);
      // Whoever may not see the output of one run may see that of none in its session.
      isOver ||= response.status === 403 || leftOf(response) < LEAST_LEFT;
      if (isOver) return;
    }
  };
  await Promise.allSettled(Array.from({ length: AT_ONCE }, read));
  clearTimeout(timer);
  return found;
}

/** How many requests the narrowest of the limits still allows. */
function leftOf({ headers }: Response): number {
  const windows = (headers.get("ratelimit") ?? "").matchAll(/;r=(\d+)/g);
  return Math.min(...[...windows].map(([, left]) => Number(left)));
}
