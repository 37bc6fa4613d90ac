import type * as z from "zod";
import type { RunStatus } from "../runs/schemas.ts";

/** Which runs a list shows. */
export interface RunFilter {
  agent_id?: string | undefined;
  task_id?: string | undefined;
  status?: z.output<typeof RunStatus> | undefined;
  scope?: "personal" | undefined;
  team_id?: string | undefined;
  mine: boolean;
  page: number;
  page_size: number;
}
