import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { utcText } from "../db/instant.ts";
import { agents, certifications, runs, screening_sessions, suites, tasks } from "../db/schema/index.ts";
import { buildCredential, type CertificationInput } from "../evidence/credential.ts";
import { keyId } from "../evidence/did.ts";
import { signStatement } from "../evidence/sign.ts";
import type { Context } from "../platform/context.ts";

/** What the credential of a certification says. */
const Unsigned = z.object({
  agent: z.object({ id: z.uuid(), name: z.string() }),
  certification: z.object({
    id: z.uuid(),
    score: z.number(),
    issued_at: z.string(),
    expires_at: z.string(),
    status_index: z.int(),
  }),
  screening: z.object({
    screening_session_id: z.uuid(),
    repeats: z.int(),
    suites: z.array(z.object({ id: z.uuid(), slug: z.string(), version: z.int().nullable() })),
    domains: z.array(z.object({ domain: z.string(), tasks: z.int(), runs: z.int(), passed: z.int() })),
  }),
}) satisfies z.ZodType<Omit<CertificationInput, "base_url">>;

/**
 * Signs the credential of a certification and keeps it. Does nothing to a certification that is not in the state
 * `certified` or has its credential already, so that it may be called any number of times, also at once.
 */
export async function issueCredential(ctx: Context, certificationId: string): Promise<void> {
  const input = await read(ctx, Unsigned, unsigned(certificationId));
  if (input === null) return;
  const { active } = await ctx.keys();
  const kid = keyId(ctx.env.BASE_URL, active);
  const jws = await signStatement(buildCredential({ base_url: ctx.env.BASE_URL, ...input }), active, kid);
  await write(ctx, {
    parts: sql`with issued as (
      update ${certifications} set jws = ${jws}, kid = ${kid}, updated_at = now()
      where id = ${certificationId}::uuid and status = 'certified' and jws is null returning id
    )`,
    select: sql`select to_jsonb(id) as result from issued`,
    result: z.uuid(),
  });
}

/** SQL: what the credential of a certification says, from the runs that its verdict is based on; no row if none is due. */
function unsigned(certificationId: string): SQL {
  return sql`with due as (
    select c.*, a.name, s.repeats from ${certifications} c join ${agents} a on a.id = c.agent_id
      join ${screening_sessions} s on s.id = c.screening_session_id
    where c.id = ${certificationId}::uuid and c.status = 'certified' and c.jws is null
  ), counted as (
    select r.task_id, r.passed, r.suite_id, r.suite_version, t.domain
    from due join ${runs} r on r.screening_session_id = due.screening_session_id join ${tasks} t on t.id = r.task_id
    where r.failure_code is distinct from 'service_error'
  )
  select jsonb_build_object(
    'agent', jsonb_build_object('id', due.agent_id, 'name', due.name),
    'certification', jsonb_build_object('id', due.id, 'score', due.score, 'issued_at', ${utcText(sql`due.issued_at`)},
      'expires_at', ${utcText(sql`due.expires_at`)}, 'status_index', due.status_index),
    'screening', jsonb_build_object('screening_session_id', due.screening_session_id, 'repeats', due.repeats,
      'suites', (select coalesce(jsonb_agg(k order by k.slug), '[]') from (
        select u.id, u.slug, max(r.suite_version) as version from counted r join ${suites} u on u.id = r.suite_id
        group by u.id) k),
      'domains', (select coalesce(jsonb_agg(k order by k.domain), '[]') from (
        select domain, count(distinct task_id) as tasks, count(*) as runs, count(*) filter (where passed) as passed
        from counted group by domain) k))
  ) as result from due`;
}
