import { type SQL, sql } from "drizzle-orm";
import { tasks } from "../../db/schema/index.ts";

/** Of how many of a prompt's shingles it is looked up how many tasks have them, beyond those that have to be chosen. */
const CHOICE = 200;
/** How many tasks with a shingle are counted at most. */
const COUNTED = 100;

/**
 * SQL: whether an active public task says nearly the same as `prompt`: the Jaccard similarity of their shingles (Broder,
 * "On the resemblance and containment of documents", 1997) is at least 0.8. Secret tasks are left out: whoever proposes
 * a task sees its flags, and could learn by them what secret prompts say.
 *
 * A task that is so similar lacks at most a fifth of the prompt's shingles, so it has one of any that are a fifth and one
 * more. Only the tasks with one of these, the rarest, are compared: by size and by hashes, which never have less in common
 * than the shingles have, and then by the shingles.
 */
export function isNearDuplicate(prompt: string): SQL<boolean> {
  const having = (hash: SQL) => sql`select from ${tasks} t where t.shingles @> array[${hash}] limit ${COUNTED}`;
  return sql`exists (
    with own as materialized (select shingle, shingle_hash(shingle) as hash from shingles(${prompt}::text) shingle),
    own_size as materialized (select count(*) as n from own),
    telling as materialized (select array(
      select hash from (select hash from own limit (select n / 5 + 1 + ${CHOICE} from own_size)) o
      order by (select count(*) from (${having(sql`o.hash`)}) x) limit (select n / 5 + 1 from own_size)) as hashes),
    near as materialized (
      select t.prompt, t.shingles as hashes, cardinality(t.shingles) as size
      from ${tasks} t where t.shingles && (select hashes from telling)
    )
    select from near, own_size where case
      when 5 * size < 4 * n or 5 * n < 4 * size then false
      when 9 * (select count(*) from own join unnest(hashes) hash using (hash)) < 4 * (n + size) then false
      else 9 * (select count(*) from own join shingles(prompt) shingle using (shingle)) >= 4 * (n + size) end)`;
}
