import { type SQL, sql } from "drizzle-orm";
import { VERSIONS } from "./versions.static.ts";

/** Part of the text, and not a parameter: so it is read once, where a plan is kept, and not by every run. */
const TEMPLATES = sql.raw(`'${JSON.stringify(VERSIONS).replaceAll("'", "''")}'::jsonb`);

/** SQL: what the template of the task row `t` is found by: the slug, of a secret task without the version of its suite. */
export const family: SQL = sql`case when t.is_secret then regexp_replace(t.slug, '-v[0-9]+-', '-') else t.slug end`;

/** SQL: id and version, as JSON, of the template that the runs of the task row `t` are minted from; null for a fixed text. */
export const templateOf: SQL = sql`(${TEMPLATES} -> ${family})`;
