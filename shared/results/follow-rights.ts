import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { api_keys, sessions } from "../db/schema/index.ts";
import type { Viewer } from "../teams/rights.ts";
import { NOBODY } from "./follow.ts";

/** For each viewer who may see a subject whether it is theirs, by what `follow` calls them, or `NOBODY`. */
export const Rights = z.record(z.string(), z.boolean());

/**
 * SQL: whether the session or the key of the viewer row `v` is in force, by the database: not revoked nor expired, and of a key
 * that no other one took its place by a rotation.
 */
function holds(now: Date): SQL {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`exists (
      select from ${sessions} e where e.id = v.credential and e.revoked_at is null and e.expires_at > ${at})
    or exists (select from ${api_keys} e where e.id = v.credential and e.key_hash = v.key_hash and e.revoked_at is null
      and (e.expires_at is null or e.expires_at > ${at}))`;
}

/**
 * SQL: a row `v` with the `Rights` of these viewers as `rights`: `sees` says who may see the subject, `owns` whose it is. A
 * viewer whose session or key is not in force `now` sees nothing any more. No row where none of them may see it.
 */
export function rightsOf(
  now: Date,
  viewers: readonly (string | null)[],
  sees: (viewer: Viewer) => SQL,
  owns: (viewer: Viewer) => SQL,
): SQL {
  const id = sql`v.id`;
  const names = viewers.map((viewer) => viewer ?? NOBODY).join(",");
  return sql`lateral (
    select jsonb_object_agg(v.name, coalesce(${owns(id)}, false)) as rights
    from (
      select n.name, nullif(split_part(n.name, '/', 1), ${NOBODY})::uuid as id,
        nullif(split_part(n.name, '/', 2), '')::uuid as credential, split_part(n.name, '/', 3) as key_hash
      from unnest(string_to_array(${names}, ',')) n(name)
    ) v where (v.id is null or ${holds(now)}) and ${sees(id)}
    having count(*) > 0
  ) v`;
}
