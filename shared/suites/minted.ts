import { type SQL, sql } from "drizzle-orm";
import { samples, templatesBySample } from "../templates/index.ts";
import type { CoreTemplate } from "../templates/types.ts";
import { sealedTemplates } from "./secret/index.ts";

/** What a run's instance is drawn from. */
export type Mintable = Pick<CoreTemplate, "id" | "version" | "mint">;

const SEALED = Object.fromEntries([...sealedTemplates].map(([name, { id, version }]) => [name, { id, version }]));
/** Part of the text, and not a parameter: so it is read once, where a plan is kept, and not by every run. */
const TEMPLATES = sql.raw(`'${JSON.stringify({ ...samples, ...SEALED }).replaceAll("'", "''")}'::jsonb`);

/** SQL: what the template of the task row `t` is found by: the slug, of a secret task without the version of its suite. */
export const family: SQL = sql`case when t.is_secret then regexp_replace(t.slug, '-v[0-9]+-', '-') else t.slug end`;

/** SQL: id and version, as JSON, of the template that the runs of the task row `t` are minted from; null for a fixed text. */
export const templateOf: SQL = sql`(${TEMPLATES} -> ${family})`;

/** The template that a secret or an open task finds by its `family`; undefined where there is none any more. */
export function mintableOf(name: string, isSecret: boolean): Mintable | undefined {
  return isSecret ? sealedTemplates.get(name) : templatesBySample.get(name);
}
