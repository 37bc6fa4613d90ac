import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Viewer } from "../teams/rights.ts";
import { NOBODY } from "./follow.ts";

/** For each viewer who may see a subject whether it is theirs, by their id, or by `NOBODY` for one without an account. */
export const Rights = z.record(z.string(), z.boolean());

/**
 * SQL: a row `v` with the `Rights` of these viewers as `rights`: `sees` says who may see the subject, `owns` whose it is.
 * No row where none of them may see it.
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
