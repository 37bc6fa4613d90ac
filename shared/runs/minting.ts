import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { screening_sessions } from "../db/schema/index.ts";
import { usableSecret } from "../epochs/secret.ts";
import { family, templateOf } from "../suites/template-of.ts";

/** What a minted run is drawn from, as statements read it. */
export const Drawn = z.object({
  /** What the template is found by. */
  family: z.string(),
  /** Whether the task is secret: then the epoch is a sealed one. */
  is_secret: z.boolean(),
  version: z.int(),
  epoch: z.string(),
  /** The encrypted secret; null while the epoch has none that the log was told of in time. */
  sealed: z.string().nullable(),
  /** Its place in a session that may have canaries, with the encrypted secret that says which; null once that is told. */
  place: z.object({ session_id: z.string(), number: z.int(), sealed: z.string().nullable() }).nullable(),
});
export type Drawn = z.output<typeof Drawn>;

/** SQL: the version of the template of the task `t`; null for a task that is not minted. */
export const templateVersion: SQL = sql`(${templateOf} ->> 'version')::integer`;

/** SQL: a `Drawn` of the run `r` and its task `t`; null for a run that is not minted. */
export const drawn: SQL = sql`case when r.epoch is not null then jsonb_build_object('family', ${family},
  'is_secret', t.is_secret, 'version', r.template_version, 'epoch', r.epoch,
  'sealed', ${usableSecret(sql`case when t.is_secret then 'sealed' else 'open' end`, sql`r.epoch`)},
  'place', case when r.canary is null then jsonb_build_object('session_id', r.screening_session_id,
    'number', (r.position - 1) * r.repeat_total + r.repeat_index - 1, 'sealed', ${usableSecret(
      sql`'open'`,
      sql`(select s.epoch from ${screening_sessions} s where s.id = r.screening_session_id)`,
    )}) end) end`;
