import { sql } from "drizzle-orm";
import { team_members, teams } from "../../db/schema/index.ts";
import type { DisownInDomain } from "../../identity/passwords/disown.ts";

/** Removes the members of the workspaces that the accounts own, who may all be the stranger by other names. */
export const disownMembers: DisownInDomain = () => sql`
  delete from ${team_members} m using claimed c join ${teams} t on t.owner_id = c.id
  where m.team_id = t.id and m.user_id <> c.id and not c.proven`;
