import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { kept, writeKept } from "../db/kept.ts";
import { takeBack } from "../db/owed.ts";
import { agents, run_exchanges, runs, tasks } from "../db/schema/index.ts";
import { graderSchema } from "../grading/schema.ts";
import type { Context } from "../platform/context.ts";
import { Collected, collected } from "../telemetry/collect.ts";
import type { Instance } from "../templates/types.ts";
import { Json } from "./answer.ts";
import { LIMITS } from "./limits.ts";
import { type Minted, mintNow } from "./mint.ts";
import { Drawn, drawn } from "./minting.ts";

/**
 * The longest answer, in bytes, that is read with its run. A longer one may take four megabytes in the database's answer, which
 * has ten for the run's spans, its agent's versions and its task, too; as many shorter ones as are scored together fit.
 */
const READ_ALONG = LIMITS.responseBytes / 8;

const Loaded = z.object({
  run: z.object({
    id: z.string(),
    agent_id: z.string(),
    trigger: z.string(),
    simulated: z.boolean(),
    is_private: z.boolean(),
    /** Whether what follows from it waits for the end of its session. */
    is_held: z.boolean(),
    screening_session_id: z.string().nullable(),
    repeat_index: z.int().nullable(),
    repeat_total: z.int().nullable(),
    started_at: z.string(),
    latency_ms: z.int().nullable(),
    failure_code: z.string().nullable(),
  }),
  agent: z.object({ name: z.string(), connection_mode: z.string(), agent_protocol: z.string() }),
  task: z.object({
    id: z.string(),
    domain: z.string(),
    suite_id: z.string().nullable(),
    suite_version: z.int().nullable(),
    is_secret: z.boolean(),
    /** What was asked, as it was sent. */
    prompt: z.string(),
    input: Json,
    grader: graderSchema,
    expected_output: Json,
    output_schema: Json,
    pass_threshold: z.number(),
    reference_cost_usd: z.number(),
    reference_latency_ms: z.number(),
    expected_tool_calls: z.int().nullable(),
  }),
  /** The answer as JSON text; null where none came, or it is read apart. */
  answer: z.string().nullable(),
  /** Whether the answer is so long that `withAnswer` has to read it. */
  is_apart: z.boolean(),
  /** SHA-256 over salt and bytes, in hex. */
  commitments: z.object({ request: z.string().nullable(), response: z.string().nullable() }),
  telemetry: Collected,
  drawn: Drawn.nullable(),
});

/**
 * An answered run with all that grading, pricing and signing look at; a minted one has its instance's
 * prompt and key, a canary its task's.
 */
export interface Answered extends Omit<z.output<typeof Loaded>, "drawn"> {
  minted: Minted | null;
}

/** SQL: whether the answer of the exchange row `e` is read apart. */
const isApart = sql`octet_length(e.answer) > ${sql.raw(String(READ_ALONG))}`;

/** Those of some runs (a list of ids) that wait to be graded; messages about the others are taken out of the outbox. */
export const LOAD_ANSWERED = kept("load_answered", { runs: "jsonb" }, (value) => {
  const ids = sql`select jsonb_array_elements_text(${value("runs")})::uuid`;
  return {
    parts: sql`with named as materialized (
      select r.id, r.status, r.answered_at, r.lease_token from (select distinct * from (${ids})) as g(id) join ${runs} r on r.id = g.id
    ), waiting as (
      select id from named where status = 'running' and answered_at is not null and lease_token is null
    ), taken_back as (${takeBack(["score"], sql`${ids} except select id from waiting`)})`,
    select: sql`select jsonb_agg(jsonb_build_object(
      'run', jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'trigger', r.trigger, 'simulated', r.simulated,
        'is_private', r.is_private, 'is_held', r.canary is null, 'screening_session_id', r.screening_session_id, 'repeat_index', r.repeat_index,
        'repeat_total', r.repeat_total, 'started_at', r.started_at, 'latency_ms', r.latency_ms, 'failure_code', r.failure_code),
      'agent', jsonb_build_object('name', a.name, 'connection_mode', coalesce(r.connection_mode, a.connection_mode),
        'agent_protocol', coalesce(r.agent_protocol, a.agent_protocol)),
      'task', jsonb_build_object('id', t.id, 'domain', t.domain, 'suite_id', t.suite_id, 'suite_version', t.suite_version,
        'is_secret', t.is_secret, 'prompt', t.prompt, 'input', t.input, 'grader', t.grader, 'expected_output', t.expected_output, 'output_schema', t.output_schema,
        'pass_threshold', t.pass_threshold, 'reference_cost_usd', t.reference_cost_usd,
        'reference_latency_ms', t.reference_latency_ms, 'expected_tool_calls', t.expected_tool_calls),
      'answer', case when not ${isApart} then e.answer end, 'is_apart', coalesce(${isApart}, false),
      'commitments', jsonb_build_object('request', encode(sha256(e.request_salt || e.request), 'hex'),
        'response', encode(sha256(e.response_salt || e.response), 'hex')),
      'telemetry', ${collected()}, 'drawn', ${drawn}
    ) order by r.id)
    from waiting w join ${runs} r on r.id = w.id join ${agents} a on a.id = r.agent_id join ${tasks} t on t.id = r.task_id
      left join ${run_exchanges} e on e.run_id = r.id`,
  };
});

/**
 * Loads those of some runs that wait to be graded, and takes the messages about the others out of the outbox. Throws where
 * one of them can't be minted any more.
 */
export async function loadAnswered(ctx: Context, runIds: readonly string[]): Promise<Answered[]> {
  const answered = await writeKept(ctx, [LOAD_ANSWERED.with({ runs: JSON.stringify(runIds) })], z.array(Loaded));
  return (answered ?? []).map(({ drawn: source, ...run }) => {
    const minted = mintNow(run.run.id, source, ctx.env.DATA_ENCRYPTION_KEYS);
    const isAsIs = minted === null || minted.isCanary;
    return { ...run, task: isAsIs ? run.task : { ...run.task, ...askedBy(minted.instance) }, minted };
  });
}

/**
 * The run with its answer, which is read now where it is a long one: by itself, and one at a time, whatever else is scored with
 * it. Null where it is gone, with its run.
 */
export async function withAnswer(ctx: Context, run: Answered): Promise<Answered | null> {
  if (!run.is_apart) return run;
  const answer = await read(
    ctx,
    z.string(),
    sql`select answer as result from ${run_exchanges} where run_id = ${run.run.id}::uuid`,
  );
  return answer === null ? null : { ...run, answer };
}

/** What the instance asks, and what an answer to it is graded by. */
function askedBy({ prompt, input, grader, expected_output, output_schema }: Instance) {
  return { prompt, input, grader, expected_output, output_schema };
}
