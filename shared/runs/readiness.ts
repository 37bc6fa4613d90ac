import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { inactive, isRetired, retired } from "../agents/connection.ts";
import type { AgentCreate } from "../agents/schemas.ts";
import { agentOwner, hasEndpoint, visibleAgent } from "../agents/view.ts";
import { agents, otlp_tokens, readiness_checks, runs } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { Instant } from "../platform/time.ts";
import { may } from "../teams/rights.ts";
import { type Probe, probe, type Target } from "./probe.ts";

/** How long a result counts as evidence. */
const VALID_MS = 60 * 60 * 1000;
/** How recently telemetry must have come to be called flowing. */
const RECEIVING_MS = 24 * 60 * 60 * 1000;
/** Of so many runs, the last by submission, the one that was answered last counts: side by side they overtake each other. */
const RECENT_RUNS = 20;

const EndpointState = z.enum(["ready", "failing", "unchecked", "not_applicable"]);
const TelemetryState = z.enum(["receiving", "waiting", "not_configured"]);

export const AgentReadiness = z
  .object({
    agent_id: z.uuid(),
    endpoint: z
      .object({
        state: EndpointState.meta({ description: "`not_applicable` where no endpoint is called, `mock` for one" }),
        checked_at: Instant.nullable(),
        valid_until: Instant.nullable().meta({ description: "One hour after `checked_at`; then `unchecked` again" }),
        latency_ms: z.number().int().nullable(),
        failure_code: z.string().nullable().meta({ description: "In the words of a run's failures" }),
      })
      .meta({ description: "From the newer of the last check and the last real run: evidence of that moment alone" }),
    telemetry: z
      .object({
        state: TelemetryState.meta({
          description: "`receiving` within 24 hours of the last spans, `waiting` with a credential and none since",
        }),
        last_received_at: Instant.nullable(),
      })
      .meta({ description: "Never needed for a screening" }),
  })
  .meta({ id: "AgentReadiness" });

type Projection = z.input<typeof AgentReadiness>;

/** What the database knows of an agent's readiness. */
interface Facts {
  agent_id: string;
  allowed: boolean;
  is_active: boolean;
  connection_mode: z.output<typeof AgentCreate>["connection_mode"];
  /** Null where no endpoint is called. */
  target: Target | null;
  evidence: {
    at: string;
    latency_ms: number | null;
    failure_code: string | null;
    /** Whether the agent is still as it was then. */
    current: boolean;
  } | null;
  token: { last_received_at: string | null } | null;
}

/** An agent's readiness; throws 404, and `forbidden` without the right to run it. */
export async function readReadiness(ctx: Context, principal: UserPrincipal, agentId: string): Promise<Projection> {
  return project(await load(ctx, principal, agentId), ctx.now());
}

/**
 * Calls the agent's endpoint with a tiny task, keeps what came, and returns the readiness with it; two statements. An
 * agent without an endpoint is not called. A result for an endpoint that was changed meanwhile is dropped. Throws 404,
 * `forbidden` without the right to run it, `agent_inactive`, `provider_custody_retired`; `ResolverFault` where our own
 * resolver failed, and then nothing is kept.
 */
export async function checkReadiness(ctx: Context, principal: UserPrincipal, agentId: string): Promise<Projection> {
  const before = await load(ctx, principal, agentId);
  if (isRetired(before.connection_mode)) throw retired();
  if (!before.is_active) throw inactive();
  const { target } = before;
  if (target === null) return project(before, ctx.now());
  const result = await probe(ctx, target);
  const at = ctx.now();
  const kept = sql`with kept as (${keep(agentId, target, result, at)})`;
  const checks = sql`select * from kept union all
    select * from ${readiness_checks} c where c.agent_id = a.id and not exists (select from kept)`;
  return project(judge(await readJson<Facts>(ctx, sql`${kept} ${facts(principal.userId, agentId, checks)}`)), at);
}

async function load(ctx: Context, principal: UserPrincipal, agentId: string): Promise<Facts> {
  const checks = sql`select * from ${readiness_checks} c where c.agent_id = a.id`;
  return judge(await readJson<Facts>(ctx, facts(principal.userId, agentId, checks)));
}

function judge(known: Facts | null): Facts {
  if (known === null) throw notFound("agent");
  if (!known.allowed) throw new Problem("forbidden", "Only who may run the agent may see and check its readiness.");
  return known;
}

/** SQL: stores a result unless the agent was changed since; at a time that no clock puts before the agent's last change. */
function keep(agentId: string, { endpoint, agent_protocol }: Target, result: Probe, at: Date): SQL {
  return sql`insert into ${readiness_checks} (agent_id, checked_at, ok, latency_ms, failure_code)
    select a.id, greatest(${at.toISOString()}::timestamptz, a.updated_at), ${result.ok}, ${result.latency_ms}::integer,
      ${result.failure_code}::text
    from ${agents} a where a.id = ${agentId}::uuid and ${hasEndpoint} and a.endpoint = ${endpoint}
      and a.agent_protocol = ${agent_protocol}
    on conflict (agent_id) do update set checked_at = excluded.checked_at, ok = excluded.ok,
      latency_ms = excluded.latency_ms, failure_code = excluded.failure_code
    returning *`;
}

/** SQL: the facts as `result`; `checks` selects rows of explicit checks of the agent row `a`. */
function facts(viewer: string, agentId: string, checks: SQL): SQL {
  return sql`select jsonb_build_object(
    'agent_id', a.id, 'allowed', ${may("run", viewer, agentOwner)}, 'is_active', a.is_active,
    'connection_mode', a.connection_mode,
    'target', case when ${hasEndpoint} then
      jsonb_build_object('endpoint', a.endpoint, 'agent_protocol', a.agent_protocol) end,
    'evidence', (
      select to_jsonb(e) from (
        select c.checked_at as at, c.latency_ms, c.failure_code, c.checked_at >= a.updated_at as current
        from (${checks}) c
        union all
        select r.answered_at, r.latency_ms, r.failure_code, r.created_at >= a.updated_at
        from (
          select * from ${runs} r where r.agent_id = a.id and not r.simulated and r.answered_at is not null
            and r.failure_code is distinct from 'service_error' order by r.id desc limit ${RECENT_RUNS}
        ) r
      ) e order by e.current desc, e.at desc limit 1
    ),
    'token', (select jsonb_build_object('last_received_at', o.last_received_at) from ${otlp_tokens} o where o.agent_id = a.id)
  ) as result
  from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`;
}

function project({ agent_id, target, evidence, token }: Facts, now: Date): Projection {
  const last_received_at = token?.last_received_at ?? null;
  const receiving = last_received_at !== null && now.getTime() - Date.parse(last_received_at) <= RECEIVING_MS;
  return {
    agent_id,
    endpoint: target === null ? { ...UNCHECKED, state: "not_applicable" } : endpointOf(evidence, now),
    telemetry: { state: token === null ? "not_configured" : receiving ? "receiving" : "waiting", last_received_at },
  };
}

const UNCHECKED: Projection["endpoint"] = {
  state: "unchecked",
  checked_at: null,
  valid_until: null,
  latency_ms: null,
  failure_code: null,
};

function endpointOf(evidence: Facts["evidence"], now: Date): Projection["endpoint"] {
  if (evidence === null) return UNCHECKED;
  const { at: checked_at, latency_ms, failure_code, current } = evidence;
  const validUntil = new Date(Date.parse(checked_at) + VALID_MS);
  if (!current || validUntil <= now) return { ...UNCHECKED, checked_at };
  const state = failure_code === null ? "ready" : "failing";
  return { state, checked_at, valid_until: validUntil.toISOString(), latency_ms, failure_code };
}
