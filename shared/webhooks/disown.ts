import { sql } from "drizzle-orm";
import { webhooks } from "../db/schema/index.ts";
import type { DisownInDomain } from "../identity/passwords/disown.ts";

/** Deletes the accounts' subscriptions, and those that they made in workspaces of others. */
export const disownSubscriptions: DisownInDomain = ({ owns }) => sql`
  delete from ${webhooks} a using claimed c where not c.proven and (${owns} or a.user_id = c.id)`;
