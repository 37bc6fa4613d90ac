import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { epochs, run_exchanges, run_phases, runs, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { Drawn, drawn } from "../runs/minting.ts";
import { RunOutput, RunPhases } from "../runs/records-shown.ts";
import { mayRun, publicForGood, runsWithAgents, visibleRun } from "../runs/view.ts";

/** The facts of a run, in order; throws 404. */
export async function readPhases(
  ctx: Context,
  principal: Principal,
  runId: string,
): Promise<z.output<typeof RunPhases>> {
  const viewer = viewerId(principal);
  const result = await read(
    ctx,
    RunPhases,
    sql`select jsonb_build_object('run_id', r.id, 'items', coalesce((
        select jsonb_agg(to_jsonb(p) - 'run_id' order by p.sequence) from ${run_phases} p where p.run_id = r.id), '[]')) as result
      from ${runsWithAgents(sql`${runs}`)} where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (result === null) throw notFound("run");
  return result;
}

const Output = z.discriminatedUnion("allowed", [
  z.object({ allowed: z.literal(false) }),
  z.object({
    allowed: z.literal(true),
    /** The agent's answer as JSON text. */
    answer: z.string().nullable(),
    ...RunOutput.pick({ explanation: true, request: true, response: true }).shape,
    drawn: Drawn.nullable(),
  }),
]);

const Answer = z.object({ output: z.unknown().default(null) });

/** What an agent put out, from its answer as JSON text; null without one. */
function outputOf(answer: string | null): unknown {
  return answer === null ? null : Answer.parse(JSON.parse(answer)).output;
}

/** SQL: the JSON of a body of the exchange row `e` and of what it is committed with; null without one. */
function committed(name: "request" | "response"): SQL {
  const [body, salt] = [sql.identifier(name), sql.identifier(`${name}_salt`)];
  return sql`case when length(e.${salt}) > 0 then jsonb_build_object(
    'body_base64', replace(encode(e.${body}, 'base64'), chr(10), ''), 'salt', encode(e.${salt}, 'hex')) end`;
}

/** SQL: what was sent in the exchange row `e` over the task row `t`, which a secret task keeps to itself. */
const requestJson: SQL = sql`case when not t.is_secret then ${committed("request")} end`;

/** SQL: what was sent and received in the run row `r` of the task row `t`, by its exchange row `e`. */
export const exchangeJson: SQL = sql`json_build_object('run_id', r.id, 'answer', e.answer, 'explanation', r.explanation,
  'request', ${requestJson}, 'response', ${committed("response")})`;

/** What `exchangeJson` gives, as RunOutput without the instance. */
export const Exchange = RunOutput.pick({ run_id: true, explanation: true, request: true, response: true })
  .extend({ answer: z.string().nullable() })
  .transform(({ answer, ...exchange }) => ({ ...exchange, output: outputOf(answer) }));

/** SQL: whether the output of the run row `r` of the task `t` is public: its owner said so, and its epoch is revealed. */
const isPublished: SQL = sql`(r.publishes_answer and r.counted and not t.is_secret
  and exists (select from ${epochs} e where e.kind = 'open' and e.name = r.epoch and e.revealed_at is not null))`;

/**
 * What was sent and received in a run, for owner and members, and for everybody once it is published: that stays so when its
 * agent ceases to be public, until it is removed. Throws 404, and `forbidden` for others who see the run.
 */
export async function readOutput(
  ctx: Context,
  principal: Principal,
  runId: string,
): Promise<Omit<z.output<typeof RunOutput>, "output"> & { output: unknown }> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    Output,
    sql`select jsonb_build_object('allowed', x.allowed) || case when x.allowed
        then jsonb_build_object('answer', e.answer, 'explanation', r.explanation,
          'request', ${requestJson}, 'response', ${committed("response")},
          'drawn', case when r.status in ('completed', 'failed') and not r.canary and not t.is_secret then ${drawn} end)
        else '{}' end as result
      from ${runsWithAgents(sql`${runs}`)} join ${tasks} t on t.id = r.task_id left join ${run_exchanges} e on e.run_id = r.id
        cross join lateral (select coalesce(${mayRun("see_outputs", viewer)}, false) or ${isPublished} as allowed) x
      where r.id = ${runId}::uuid and (${visibleRun(viewer)} or (${isPublished} and ${publicForGood} and a.is_active))`,
  );
  if (row === null) throw notFound("run");
  if (!row.allowed)
    throw new Problem(
      "forbidden",
      "Only the agent's owner and the members of its workspace may see the output of its runs, unless they are published.",
    );
  const { answer, explanation, request, response, drawn: source } = row;
  // The templates are loaded where an instance is shown: no other read needs them.
  const minted =
    source === null || source.sealed === null
      ? null
      : (await import("../runs/mint.ts")).mint(runId, source, ctx.env.DATA_ENCRYPTION_KEYS);
  return {
    run_id: runId,
    output: outputOf(answer),
    explanation,
    request,
    response,
    instance: minted?.instance ?? null,
  };
}
