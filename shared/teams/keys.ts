import { sql } from "drizzle-orm";
import type { KeyHolder, MayManage } from "../identity/api-keys/holder.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import { may } from "./rights.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, teamFor } from "./view.ts";

/** The keys of a workspace, as one of its members sees them: admins and its owner manage them. */
export function keysOfWorkspace({ userId }: SessionPrincipal, teamId: string): KeyHolder {
  return {
    owner: { user_id: sql`null::uuid`, team_id: sql`${teamId}::uuid` },
    has: sql`k.team_id = ${teamId}::uuid`,
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    right: sql`select t.allowed from (${teamFor("manage_members", userId, teamId)}) t`,
    refusals: { not_found: noTeam, forbidden: () => notAllowed("managing its keys") },
  };
}

/** The keys that a caller may manage: the account's own, and those of workspaces in which the caller is at least an admin. */
export function managedKeys({ userId }: SessionPrincipal): MayManage {
  return (owner) => may("manage_members", userId, owner);
}
