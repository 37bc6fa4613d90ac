import { type SQL, sql } from "drizzle-orm";
import type { Viewer } from "../teams/rights.ts";
import { NOBODY } from "./follow.ts";

/**
 * SQL: a row `v` with `rights`, a JSON object of those among `viewers` who may see something, as `sees` says: by their ids,
 * or `NOBODY` for a viewer without an account, whether it is theirs, as `owns` says. No row where there are none.
 */
export function rightsOf(
  viewers: readonly (string | null)[],
  sees: (viewer: Viewer) => SQL,
  owns: (viewer: Viewer) => SQL,
): SQL {
  const id = sql`v.id`;
  const ids = viewers.map((viewer) => viewer ?? NOBODY).join(",");
  return sql`lateral (
    select jsonb_object_agg(coalesce(v.id::text, ${NOBODY}), coalesce(${owns(id)}, false)) as rights
    from unnest(string_to_array(${ids}, ',', ${NOBODY})::uuid[]) v(id) where ${sees(id)}
    having count(*) > 0
  ) v`;
}
