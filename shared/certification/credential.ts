import { type SQL, sql } from "drizzle-orm";
import { visibleAgent } from "../agents/view.ts";
import { agents, certifications, runs, screening_sessions, suites, tasks } from "../db/schema/index.ts";
import { utcText } from "../db/instant.ts";
import { readJson } from "../db/statement.ts";
import { buildCredential, type CertificationInput } from "../evidence/credential.ts";
import { keyId } from "../evidence/did.ts";
import { signStatement } from "../evidence/sign.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";

/** A certification in force, with its signed credential. */
export interface IssuedCredential {
  jws: string;
  kid: string;
  score: number;
  /** ISO 8601, UTC. */
  issued_at: string;
  expires_at: string;
}

/** SQL: whether the certification row `c` is in force: certified, neither expired nor revoked. */
export function inForce(now: Date): SQL<boolean> {
  return sql`(c.status = 'certified' and c.revoked_at is null and c.expires_at > ${now.toISOString()}::timestamptz)`;
}

/** SQL: a JSON object with `certified_score`, that of the certification in force of the agent row `a`; null without one. */
export function certifiedScoreJson(now: Date): SQL {
  return sql`jsonb_build_object('certified_score', (
    select c.score from ${certifications} c where c.agent_id = a.id and ${inForce(now)} order by c.id desc limit 1))`;
}

/** The credential of an agent that the caller may see; null where none is in force. */
export function findCredential(ctx: Context, principal: Principal, agentId: string): Promise<IssuedCredential | null> {
  return readJson<IssuedCredential>(
    ctx,
    sql`select jsonb_build_object('jws', c.jws, 'kid', c.kid, 'score', c.score,
        'issued_at', ${utcText(sql`c.issued_at`)}, 'expires_at', ${utcText(sql`c.expires_at`)}) as result
      from ${certifications} c join ${agents} a on a.id = c.agent_id
      where a.id = ${agentId}::uuid and ${visibleAgent(viewerId(principal))} and ${inForce(ctx.now())} and c.jws is not null
      order by c.id desc limit 1`,
  );
}

/**
 * Signs the credential of a certification and keeps it. What is not certified, or has its credential already, stays as it
 * is, so that it may be called again and many times at once.
 */
export async function issueCredential(ctx: Context, certificationId: string): Promise<void> {
  const input = await readJson<Omit<CertificationInput, "base_url">>(ctx, unsigned(certificationId));
  if (input === null) return;
  const { active } = await ctx.keys();
  const kid = keyId(ctx.env.BASE_URL, active);
  const jws = await signStatement(buildCredential({ base_url: ctx.env.BASE_URL, ...input }), active, kid);
  await ctx.db.execute(sql`update ${certifications} set jws = ${jws}, kid = ${kid}, updated_at = now()
    where id = ${certificationId}::uuid and status = 'certified' and jws is null`);
}

/** SQL: what the credential of a certification says, from the runs that its verdict is of; no row where it is not due. */
function unsigned(certificationId: string): SQL {
  return sql`with due as (
    select c.*, a.name, s.repeats from ${certifications} c join ${agents} a on a.id = c.agent_id
      join ${screening_sessions} s on s.id = c.screening_session_id
    where c.id = ${certificationId}::uuid and c.status = 'certified' and c.jws is null
  ), judged as (
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
        select u.id, u.slug, max(r.suite_version) as version from judged r join ${suites} u on u.id = r.suite_id
        group by u.id) k),
      'domains', (select coalesce(jsonb_agg(k order by k.domain), '[]') from (
        select domain, count(distinct task_id) as tasks, count(*) as runs, count(*) filter (where passed) as passed
        from judged group by domain) k))
  ) as result from due`;
}
