import { type SQL, sql } from "drizzle-orm";
import { TEAM_ROLES, team_members } from "../db/schema/index.ts";

/** A role in a workspace. */
export type Role = (typeof TEAM_ROLES)[number];

/** Something a role may allow. */
export type Action = "see" | "see_outputs" | "run" | "edit" | "buy" | "manage_members" | "own";

/** What each role in a workspace may do. */
export const RIGHTS: Readonly<Record<Role, readonly Action[]>> = {
  viewer: ["see"],
  member: ["see", "see_outputs"],
  runner: ["see", "see_outputs", "run"],
  editor: ["see", "see_outputs", "run", "edit"],
  admin: ["see", "see_outputs", "run", "edit", "buy", "manage_members"],
  owner: ["see", "see_outputs", "run", "edit", "buy", "manage_members", "own"],
};

/** What a workspace's own API key may do there: as an editor, within its scopes. Such a viewer has the workspace's id. */
export const KEY_ROLE: Role = "editor";

/** SQL: whether the membership row `m` allows an action, as a further condition; what every role allows needs none. */
function allows(action: Action): SQL {
  const roles = TEAM_ROLES.filter((role) => RIGHTS[role].includes(action));
  if (roles.length === TEAM_ROLES.length) return sql``;
  return sql.raw(`and m.role in (${roles.map((role) => `'${role}'`).join(", ")})`);
}

/** The one who asks: an account, or a workspace's API key, by its id, or by a uuid in SQL, which may be null; null is somebody without an account. */
export type Viewer = string | null | SQL;

/** SQL: the id of a viewer who has one. */
export function idOf(viewer: string | SQL): SQL {
  return typeof viewer === "string" ? sql`${viewer}::uuid` : viewer;
}

/**
 * SQL: whether `viewer` may do `action` with something that belongs to the workspace `owner.team_id`, or, where that is
 * null, to the account `owner.user_id`. Not true for an anonymous viewer (null).
 */
export function may(action: Action, viewer: Viewer, owner: { user_id: SQL; team_id: SQL }): SQL<boolean> {
  if (viewer === null) return sql`false`;
  // An account that gives its own id for a workspace's is not the workspace's key; nor has a deleted workspace any, which
  // alone has no members.
  const isKey = sql`${owner.team_id} = ${idOf(viewer)} and exists (
    select from ${team_members} k where k.team_id = ${idOf(viewer)})`;
  const byKey = RIGHTS[KEY_ROLE].includes(action) ? sql`(${isKey}) or` : sql``;
  return sql`case when ${owner.team_id} is null then ${owner.user_id} = ${idOf(viewer)} else ${byKey} exists (
    select from ${team_members} m
    where m.team_id = ${owner.team_id} and m.user_id = ${idOf(viewer)} ${allows(action)}
  ) end`;
}

/** SQL: who has a row: the workspace that it belongs to, else the account that made it. Lists have an index on it. */
export function ownerOf(owner: { user_id: SQL; team_id: SQL }): SQL {
  return sql`coalesce(${owner.team_id}, ${owner.user_id})`;
}

/**
 * SQL: the rows that `scan` finds for each owner (`ownerOf`), account or workspace, with whose things `viewer` may do
 * `action`: the same rows for which `may` holds. `may` judges a row that was found; a list is found by this, each owner's
 * part by an index, which the planner takes where `scan` orders and limits.
 */
export function ofOwners(action: Action, viewer: string, scan: (owner: SQL) => SQL): SQL {
  return sql`select x.* from (
      select ${viewer}::uuid as id union all select m.team_id from ${team_members} m
      where m.user_id = ${viewer}::uuid ${allows(action)}
    ) o cross join lateral (${scan(sql`o.id`)}) x`;
}
