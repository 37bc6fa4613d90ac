import { type SQL, sql } from "drizzle-orm";
import { team_members } from "../db/schema/index.ts";

/** What the roles of a workspace may do, each including what stands before it in decisions section 8. */
export const RIGHTS = {
  viewer: ["see"],
  member: ["see", "see_outputs"],
  runner: ["see", "see_outputs", "run"],
  editor: ["see", "see_outputs", "run", "edit"],
  admin: ["see", "see_outputs", "run", "edit", "buy", "manage_members"],
  owner: ["see", "see_outputs", "run", "edit", "buy", "manage_members", "own"],
} as const satisfies Record<string, readonly string[]>;

/** A role in a workspace. */
export type Role = keyof typeof RIGHTS;

/** Something a role may allow. */
export type Action = (typeof RIGHTS)["owner"][number];

/** The roles that allow an action. */
export function rolesWith(action: Action): Role[] {
  return (Object.keys(RIGHTS) as Role[]).filter((role) => (RIGHTS[role] as readonly Action[]).includes(action));
}

/** Who looks: an account by its id, or by a uuid in SQL, which may be null; null is somebody without an account. */
export type Viewer = string | null | SQL;

/** SQL: the id of a viewer who has one. */
export function idOf(viewer: string | SQL): SQL {
  return typeof viewer === "string" ? sql`${viewer}::uuid` : viewer;
}

/**
 * SQL: whether `viewer` may do `action` with what `owner_id` has made, which belongs to workspace `team_id` where that
 * is not null. Not true for an anonymous viewer (null).
 */
export function may(action: Action, viewer: Viewer, owner: { user_id: SQL; team_id: SQL }): SQL<boolean> {
  if (viewer === null) return sql`false`;
  const roles = sql.join(
    rolesWith(action).map((role) => sql`${role}`),
    sql`, `,
  );
  return sql`case when ${owner.team_id} is null then ${owner.user_id} = ${idOf(viewer)} else exists (
    select from ${team_members} m
    where m.team_id = ${owner.team_id} and m.user_id = ${idOf(viewer)} and m.role in (${roles})
  ) end`;
}
