import { type SQL, sql } from "drizzle-orm";
import { tasks } from "../../db/schema/index.ts";

/**
 * SQL: one row `shingle` for each different run of five words of a text, case, form and punctuation aside; a shorter
 * text is one run. None for a text without words.
 */
function shingles(text: SQL): SQL {
  return sql`select distinct run as shingle from (
      select place, count(*) over () as words,
        string_agg(word, ' ') over (order by place rows between current row and 4 following) as run
      from regexp_split_to_table(lower(normalize(${text}, nfkc) collate "pg_c_utf8"), '[^[:alnum:]]+')
        with ordinality as w(word, place)
      where word <> ''
    ) runs where place <= greatest(words - 4, 1)`;
}

/**
 * SQL: whether an active public task says nearly the same as `prompt`: the Jaccard similarity of their shingles (Broder,
 * "On the resemblance and containment of documents", 1997) is at least 0.8. Secret tasks are left out: whoever proposes
 * a task sees its flags, and could learn by them what secret prompts say.
 */
export function isNearDuplicate(prompt: string): SQL<boolean> {
  return sql`exists (
    with own as materialized (${shingles(sql`${prompt}::text`)})
    select from ${tasks} t where t.is_active and not t.is_secret and (
      select count(own.shingle) > 0 and 5 * count(own.shingle) >= 4 * (count(*) + (select count(*) from own) - count(own.shingle))
      from (${shingles(sql`t.prompt`)}) theirs left join own using (shingle)))`;
}
