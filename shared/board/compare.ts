import { sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/view.ts";
import { TaskDomain } from "../catalogue/schemas.ts";
import { read } from "../db/change.ts";
import { agents, task_scores, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { paired } from "../scoring/mcnemar.ts";

/** Which agents are compared, and over which tasks. */
export const comparisonQuery = z
  .object({
    a: z.uuid().meta({ description: "An agent's id; needed" }),
    b: z.uuid().meta({ description: "Another agent's id; needed" }),
    domain: TaskDomain.optional().meta({ description: "Over the tasks of this domain alone" }),
  })
  .refine(({ a, b }) => a.toLowerCase() !== b.toLowerCase(), {
    path: ["b"],
    message: "Name two different agents.",
    params: { code: "not_unique" },
  });

const Side = z.object({
  agent_id: z.uuid(),
  name: z.string(),
  success_rate: z.number().nullable().meta({ description: "Mean over the shared tasks; null without any" }),
});

const count = z.number().int();

export const AgentComparison = z
  .object({
    a: Side,
    b: Side,
    tasks: count.meta({ description: "Tasks at which both agents have scored real runs" }),
    wins: count.meta({
      description: "Tasks that a passes and b doesn't; a task is passed in more than half of its runs",
    }),
    losses: count.meta({ description: "Tasks that b passes and a doesn't" }),
    ties: count,
    mcnemar_p_value: z.number().meta({
      description: "Two-sided, by McNemar's exact test over wins and losses: how likely so uneven a count is by chance",
    }),
    difference: z.number().nullable().meta({ description: "Success rate of a less that of b; null without a task" }),
    difference_low: z.number().meta({ description: "95% interval, paired and clustered by task; -1 below two tasks" }),
    difference_high: z.number().meta({ description: "1 below two tasks" }),
  })
  .meta({ id: "AgentComparison" });

const Tally = z.object({ n: z.number(), c: z.number() });

/** The names of two agents, null where one is not visible, and how often each passed the tasks that both have runs of. */
const Pairing = z.object({
  a: z.string().nullable(),
  b: z.string().nullable(),
  pairs: z.array(z.object({ a: Tally, b: Tally })),
});

/** Compares two agents over the tasks at which both have scored runs; throws 404 unless both are visible. */
export async function compareAgents(
  ctx: Context,
  principal: Principal,
  { a, b, domain }: z.output<typeof comparisonQuery>,
): Promise<z.output<typeof AgentComparison>> {
  const visible = visibleAgent(viewerId(principal));
  const name = (id: string) => sql`(select a.name from ${agents} a where a.id = ${id}::uuid and ${visible})`;
  const found = await read(
    ctx,
    Pairing,
    sql`select jsonb_build_object('a', ${name(a)}, 'b', ${name(b)}, 'pairs', coalesce((
        select jsonb_agg(jsonb_build_object('a', jsonb_build_object('n', x.n, 'c', x.c),
          'b', jsonb_build_object('n', y.n, 'c', y.c)) order by x.task_id)
        from ${task_scores} x join ${task_scores} y on y.task_id = x.task_id and y.agent_id = ${b}::uuid
          and y.period = 'all' and not y.simulated
        ${domain === undefined ? sql`` : sql`join ${tasks} t on t.id = x.task_id and t.domain = ${domain}`}
        where x.agent_id = ${a}::uuid and x.period = 'all' and not x.simulated), '[]')) as result`,
  );
  if (found === null || found.a === null || found.b === null) throw notFound("agent");
  const { success_rate_a, success_rate_b, ...comparison } = paired(found.pairs);
  return {
    a: { agent_id: a, name: found.a, success_rate: success_rate_a },
    b: { agent_id: b, name: found.b, success_rate: success_rate_b },
    ...comparison,
  };
}
