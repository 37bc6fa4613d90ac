import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, certifications } from "../db/schema/index.ts";
import { utcText } from "../db/instant.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";

/** A certification in force, with its signed credential; its times are ISO 8601, UTC. */
const IssuedCredential = z.object({
  jws: z.string(),
  kid: z.string(),
  score: z.number(),
  issued_at: z.string(),
  expires_at: z.string(),
});
export type IssuedCredential = z.output<typeof IssuedCredential>;

/** SQL: whether the certification row `c` is in force: certified, neither expired nor revoked. */
export function inForce(now: Date): SQL<boolean> {
  return sql`(c.status = 'certified' and c.revoked_at is null and c.expires_at > ${now.toISOString()}::timestamptz)`;
}

/** SQL: a JSON object with `certified_score`: that of the agent row `a`'s certification in force, null without one. */
export function certifiedScoreJson(now: Date): SQL {
  return sql`jsonb_build_object('certified_score', (
    select c.score from ${certifications} c where c.agent_id = a.id and ${inForce(now)} order by c.id desc limit 1))`;
}

/** The credential of an agent that the caller may see; null if none is in force. */
export function findCredential(ctx: Context, principal: Principal, agentId: string): Promise<IssuedCredential | null> {
  return read(
    ctx,
    IssuedCredential,
    sql`select jsonb_build_object('jws', c.jws, 'kid', c.kid, 'score', c.score,
        'issued_at', ${utcText(sql`c.issued_at`)}, 'expires_at', ${utcText(sql`c.expires_at`)}) as result
      ${credentialOf(ctx, principal, agentId)}`,
  );
}

/** SQL: from the certification row `c` whose credential an agent has, if the caller may see it and one is in force. */
export function credentialOf(ctx: Context, principal: Principal, agentId: string): SQL {
  return sql`from ${certifications} c join ${agents} a on a.id = c.agent_id
    where a.id = ${agentId}::uuid and ${visibleAgent(viewerId(principal))} and ${inForce(ctx.now())} and c.jws is not null
    order by c.id desc limit 1`;
}
