import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { components } from "../../typescript/src/generated/service.ts";

export type Run = components["schemas"]["RunRead"];

/** The runs of a session, by cursor: by pages, one that begins meanwhile would move the others. */
export async function runsOf(
  client: ScreeningClient,
  screening_session_id: string,
  filter: { failure_code?: "service_error" } = {},
): Promise<Run[]> {
  const query = { screening_session_id, ...filter, cursor: "" };
  const found: Run[] = [];
  for await (const run of client.each("/api/v1/runs", { query })) found.push(run);
  return found;
}

/** Whether a run failed by the service's own fault. */
export function isLost({ failure_code }: Run): boolean {
  return failure_code === "service_error";
}
