import { sql } from "drizzle-orm";
import * as z from "zod";
import { kept } from "../db/kept.ts";
import { agents, runs, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { epochAt } from "../epochs/calendar.ts";
import { newSalt } from "../evidence/commitment.ts";
import { sha256 } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import type { Instance } from "../templates/types.ts";
import { newCallbackToken } from "./callback-token.ts";
import { canBeCalled } from "./uncallable.ts";
import { Job } from "./job.ts";
import { mintNow } from "./mint.ts";
import { Drawn, drawn, templateVersion } from "./minting.ts";
import { appendPhases } from "./phases.ts";

/** A run taken up: only the holder of the lease can end this attempt. */
export interface Claim {
  job: Job;
  lease: string;
  /** What the agent may report back with; it lives as long as this attempt. */
  callbackToken: string;
  /** The salt of the commitment to the request. */
  requestSalt: Uint8Array;
}

/** What a run is taken up with, as `CLAIM` finds it. */
export const ClaimedJob = Job.extend({ drawn: Drawn.nullable() });

/**
 * The result of `CLAIM`: by lease, null for a run whose agent can't be called any more. Each is read by whoever asked for it,
 * so that one that can't be read fails alone.
 */
export const Claimed = z.record(z.string(), z.unknown());

/**
 * How much longer than the task's time a lease lasts: minting, the lookup, signing, and keeping the answer. As much later is
 * the deadline of a report as well, until it is known when the request left.
 */
const LEASE_MARGIN_S = 30;
const LASTS = sql`t.time_limit_ms * interval '1 millisecond' + interval '${sql.raw(String(LEASE_MARGIN_S))} seconds'`;

/** What a run is to be taken up with, as `CLAIM` is given it. */
const COLUMNS = sql.raw("run uuid, lease uuid, callback_hash text, epoch text, at timestamptz");

/**
 * Takes up queued runs, and running ones whose holder is gone, each by the lease that the list names. Its result has what
 * they are taken up with, by lease: a run that is listed twice is taken up once. Those in any other state are not in it.
 * They are found by their ids alone, since a search by their state would read all open runs; those that fit are locked, and
 * have to be as they were found, while nobody waits for the others.
 */
export const CLAIM = kept("claim", { runs: "jsonb" }, (value) => ({
  parts: sql`with given as (
      select * from jsonb_to_recordset(${value("runs")}) as g(${COLUMNS})
    ), named as materialized (
      select r.id, r.status, r.attempt, r.answered_at, r.awaiting_callback, r.lease_token, r.lease_expires_at,
        g.lease, g.callback_hash, g.epoch, g.at
      from given g join ${runs} r on r.id = g.run
    ), fit as (
      select * from named where answered_at is null and not awaiting_callback
        and (status = 'queued' or (status = 'running' and (lease_token is null or lease_expires_at < now())))
    ), free as (
      select n.id, n.lease, n.callback_hash, n.epoch, n.at, ${canBeCalled} as can_be_called
      from fit n join ${runs} r on r.id = n.id
      where r.status = n.status and r.attempt = n.attempt and r.answered_at is null and not r.awaiting_callback
      order by r.id for update of r
    ), claimed as (
      update ${runs} r set status = 'running', attempt = r.attempt + 1, lease_token = f.lease,
        lease_expires_at = now() + ${LASTS}, callback_hash = f.callback_hash, started_at = f.at,
        deadline_at = f.at + ${LASTS},
        template_version = v.version, agent_protocol = a.agent_protocol, connection_mode = a.connection_mode,
        epoch = case when v.version is not null then coalesce(r.epoch, f.epoch) end
      from free f, ${agents} a, ${tasks} t, lateral (select ${templateVersion} as version) v
      where r.id = f.id and f.can_be_called and a.id = r.agent_id and t.id = r.task_id
      returning r.id, r.lease_token, f.at, jsonb_build_object(
        'run', jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'screening_session_id', r.screening_session_id,
          'repeat_index', r.repeat_index, 'repeat_total', r.repeat_total, 'attempt', r.attempt, 'simulated', r.simulated),
        'agent', jsonb_build_object('endpoint', a.endpoint, 'agent_protocol', a.agent_protocol, 'auth_header', a.auth_header),
        'task', jsonb_build_object('domain', t.domain, 'prompt', t.prompt, 'input', t.input,
          'output_format', t.output_format, 'output_schema', t.output_schema, 'tools', t.tools,
          'expected_output', case when r.simulated and not t.is_secret then t.expected_output end, 'time_limit_ms', t.time_limit_ms,
          'reference_cost_usd', t.reference_cost_usd, 'reference_latency_ms', t.reference_latency_ms),
        'drawn', ${drawn}) as job
    ), facts as (
      ${appendPhases(
        sql`select id, at from claimed`,
        [
          { phase: "dispatched", outcome: "succeeded" },
          { phase: "agent_responding", outcome: "started" },
        ],
        sql`x.at`,
      )}
    )`,
  select: sql`select jsonb_object_agg(lease, job) from (
    select lease_token as lease, job from claimed union all select lease, null from free where not can_be_called) x`,
}));

/** What a run is about to be taken up with. */
export interface Taking {
  runId: string;
  lease: string;
  callbackToken: string;
  at: Date;
}

/** A run as it was taken up, before it is minted. */
export interface Taken extends Taking {
  claimed: z.output<typeof ClaimedJob>;
}

/** A lease of its own, and a token, for a run that is about to be taken up. */
export function taking(ctx: Context, runId: string): Taking {
  const at = ctx.now();
  return { runId, lease: newId(at), callbackToken: newCallbackToken(ctx.env, runId), at };
}

/**
 * What `CLAIM` takes these runs up with; its result is `Claimed`. A message that comes again does nothing. The time that an
 * agent is measured by starts when the request leaves, with each attempt anew.
 */
export function claiming(ctx: Context, takings: readonly Taking[]): { runs: string } {
  const rows = takings.map(({ runId, lease, callbackToken, at }) => ({
    run: runId,
    lease,
    callback_hash: sha256(callbackToken),
    epoch: epochAt(at, ctx.env.EPOCH_SECONDS).name,
    at: at.toISOString(),
  }));
  return { runs: JSON.stringify(rows) };
}

/**
 * What a run that was taken up asks. A run of a minted task gets the instance of the epoch in which it was first taken up,
 * which throws, and alarms, while the log has no timely commitment to that; a canary gets the task as it is published, and
 * nothing here takes note of it.
 */
export function prepare(ctx: Context, { runId, lease, callbackToken, claimed }: Taken): Claim {
  const { drawn: source, ...job } = claimed;
  if (source?.sealed === null || source?.place?.sealed === null)
    ctx.log.error("no usable epoch", { epoch: source.epoch, run: runId });
  const minted = mintNow(runId, source, ctx.env.DATA_ENCRYPTION_KEYS);
  return {
    job: minted === null || minted.isCanary || source === null ? job : asking(job, minted.instance, source.is_secret),
    lease,
    callbackToken,
    requestSalt: minted?.requestSalt ?? newSalt(),
  };
}

/** The job with the instance in the place of its sample; the key goes to the simulation of an open task alone. */
function asking(
  job: Job,
  { prompt, input, output_format, output_schema, tools, expected_output }: Instance,
  isSecret: boolean,
): Job {
  const key = job.run.simulated && !isSecret ? expected_output : null;
  return {
    ...job,
    task: { ...job.task, prompt, input, output_format, output_schema, tools, expected_output: key },
  };
}
