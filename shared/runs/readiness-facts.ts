import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { SealedHeader } from "../agents/auth-header.ts";
import { AgentRead } from "../agents/shown.ts";
import { agentOwner, hasEndpoint, visibleAgent } from "../agents/conditions.ts";
import { read, write } from "../db/change.ts";
import { agents, otlp_tokens, readiness_checks, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { Instant } from "../platform/time.ts";
import { may } from "../teams/rights.ts";
import type { Probe, Target } from "./probe.ts";

/** The latest answer among so many runs counts, the last by submission: side by side they overtake each other. */
const RECENT_RUNS = 20;
/** They are looked for among so many runs that were taken up: an agent may have had simulated ones alone, without end. */
const MOST_RUNS = 1000;

const { connection_mode, agent_protocol } = AgentRead.shape;

/** What the database knows of an agent's readiness. */
const ReadinessFacts = z.object({
  agent_id: z.uuid(),
  allowed: z.boolean(),
  is_active: z.boolean(),
  connection_mode,
  /** Null where no endpoint is called. */
  target: z.object({ endpoint: z.string(), agent_protocol, auth_header: SealedHeader.nullable() }).nullable(),
  evidence: z
    .object({
      at: Instant,
      latency_ms: z.int().nullable(),
      failure_code: z.string().nullable(),
      /** Whether the agent is still as it was then. */
      current: z.boolean(),
    })
    .nullable(),
  token: z.object({ last_received_at: Instant.nullable() }).nullable(),
});
export type ReadinessFacts = z.output<typeof ReadinessFacts>;

/** The facts for a viewer who may run the agent; throws 404, `forbidden`. */
export async function loadFacts(ctx: Context, viewer: string, agentId: string): Promise<ReadinessFacts> {
  const checks = sql`select * from ${readiness_checks} c where c.agent_id = a.id`;
  return permitted(await read(ctx, ReadinessFacts, factsOf(viewer, agentId, checks)));
}

/** What a probe of an agent showed, and when. */
interface Check {
  agentId: string;
  target: Target;
  result: Probe;
  at: Date;
}

/**
 * Stores a check, unless the agent was changed since it began, and returns the facts with it; one statement. Throws as
 * `loadFacts` does.
 */
export async function storeCheck(ctx: Context, viewer: string, check: Check): Promise<ReadinessFacts> {
  const checks = sql`select * from stored union all
    select * from ${readiness_checks} c where c.agent_id = a.id and not exists (select from stored)`;
  const facts = await write(ctx, {
    parts: sql`with stored as (${upsertCheck(check)})`,
    select: factsOf(viewer, check.agentId, checks),
    result: ReadinessFacts,
  });
  return permitted(facts);
}

function permitted(facts: ReadinessFacts | null): ReadinessFacts {
  if (facts === null) throw notFound("agent");
  if (!facts.allowed) {
    throw new Problem("forbidden", "Only those who may run the agent may see and check its readiness.");
  }
  return facts;
}

/** SQL: stores the check; its time is never before the agent's last change, by whichever clock. */
function upsertCheck({ agentId, target, result, at }: Check): SQL {
  return sql`insert into ${readiness_checks} (agent_id, checked_at, ok, latency_ms, failure_code)
    select a.id, greatest(${at.toISOString()}::timestamptz, a.updated_at), ${result.ok}, ${result.latency_ms}::integer,
      ${result.failure_code}::text
    from ${agents} a where a.id = ${agentId}::uuid and ${hasEndpoint} and a.endpoint = ${target.endpoint}
      and a.agent_protocol = ${target.agent_protocol}
      and a.auth_header is not distinct from ${target.auth_header === null ? null : JSON.stringify(target.auth_header)}::jsonb
    on conflict (agent_id) do update set checked_at = excluded.checked_at, ok = excluded.ok,
      latency_ms = excluded.latency_ms, failure_code = excluded.failure_code
    returning *`;
}

/** SQL: the facts as `result`; `checks` selects the rows of checks of the agent row `a`. */
function factsOf(viewer: string, agentId: string, checks: SQL): SQL {
  return sql`select jsonb_build_object(
    'agent_id', a.id, 'allowed', ${may("run", viewer, agentOwner)}, 'is_active', a.is_active,
    'connection_mode', a.connection_mode,
    'target', case when ${hasEndpoint} then
      jsonb_build_object('endpoint', a.endpoint, 'agent_protocol', a.agent_protocol, 'auth_header', a.auth_header) end,
    'evidence', (
      select to_jsonb(e) from (
        select c.checked_at as at, c.latency_ms, c.failure_code, c.checked_at >= a.updated_at as current
        from (${checks}) c
        union all
        select r.answered_at, r.latency_ms, r.failure_code, r.created_at >= a.updated_at
        from (
          select * from (
            select * from ${runs} r where r.agent_id = ${agentId}::uuid and r.status <> 'queued' order by r.id desc limit ${MOST_RUNS}
          ) r where not r.simulated and r.answered_at is not null and r.failure_code is distinct from 'service_error'
          order by r.id desc limit ${RECENT_RUNS}
        ) r
      ) e order by e.current desc, e.at desc limit 1
    ),
    'token', (select jsonb_build_object('last_received_at', o.last_received_at) from ${otlp_tokens} o where o.agent_id = a.id)
  ) as result
  from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`;
}
