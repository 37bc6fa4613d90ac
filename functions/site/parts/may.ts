import { TeamRead } from "../../../shared/teams/shown.ts";
import { type Action, RIGHTS } from "../../../shared/teams/rights.ts";
import type { Api } from "./api.ts";
import { unless } from "./unless.ts";

const Team = TeamRead.pick({ role: true });

/** Whether the visitor may do this with what a workspace has; without a workspace it is the visitor's own. */
export async function mayIn(api: Api, teamId: string | null | undefined, action: Action): Promise<boolean> {
  if (teamId == null) return true;
  const team = await unless("not_found", api.read(`/api/v1/teams/${teamId}`, Team));
  return team !== null && RIGHTS[team.role].includes(action);
}
