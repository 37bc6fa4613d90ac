import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { Instant } from "../../platform/time.ts";

/** An account at a code host that signs in to ours, by the id that it has there. */
export const LinkedIdentity = z.object({
  provider: z.enum(["github", "dev"]),
  provider_user_id: z.string(),
  linked_at: Instant,
});

/** SQL: the JSON of the row `i` of `identities`. */
export const identityJson: SQL = sql`json_build_object('provider', i.provider, 'provider_user_id', i.provider_user_id,
  'linked_at', i.created_at)`;

/** SQL: an id of the row `i`, which has none of its own, made of what no two share. */
export const identityId: SQL = sql`md5(i.provider || ' ' || i.provider_user_id)::uuid`;
