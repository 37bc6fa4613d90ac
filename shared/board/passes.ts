import { sql } from "drizzle-orm";
import * as z from "zod";
import { idsOf } from "../db/ids.ts";
import { visibleAgent } from "../agents/conditions.ts";
import { GapSums, gapSums, toMemorisation } from "../agents/memorisation.ts";
import type { TaskDomain } from "../catalogue/domains.ts";
import { read } from "../db/change.ts";
import { agents, board_entries, task_scores, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { TaskPair } from "../scoring/mcnemar.ts";

/** How often an agent passed a task: `c` of its `n` scored runs. */
type Tally = TaskPair["a"] & { title: string };

/** An agent's name, what qualifies its success, and its tallies by task, in the order of the tasks' ids. */
export interface Passes {
  name: string;
  memorised: boolean;
  uneven: boolean;
  tallies: ReadonlyMap<string, Tally>;
}

const Found = z.object({
  agents: z.array(z.object({ id: z.uuid(), name: z.string(), sums: GapSums, uneven: z.boolean() })),
  cells: z.array(z.tuple([z.uuid(), z.uuid(), z.int(), z.int(), z.string()])),
});

/** The tallies of agents over their scored real runs, in the order given, in one statement; throws 404 unless all are visible. */
export async function readPasses(
  ctx: Context,
  principal: Principal,
  agentIds: readonly string[],
  domain: z.output<typeof TaskDomain> | undefined,
): Promise<Passes[]> {
  const ids = sql`(${idsOf(agentIds)})`;
  const found = await read(
    ctx,
    Found,
    sql`select jsonb_build_object(
      'agents', coalesce((select jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'sums', ${gapSums},
        'uneven', coalesce((select b.uneven from ${board_entries} b
          where b.agent_id = a.id and b.domain = ${domain ?? "all"} and b.period = 'all'), false))) from ${agents} a
        where a.id in ${ids} and ${visibleAgent(viewerId(principal))}), '[]'),
      'cells', coalesce((select jsonb_agg(jsonb_build_array(s.agent_id, s.task_id, s.n, s.c, t.title) order by s.task_id)
        from ${task_scores} s join ${tasks} t on t.id = s.task_id
        where s.agent_id in ${ids} and s.period = 'all' and not s.simulated
          ${domain === undefined ? sql`` : sql`and t.domain = ${domain}`}), '[]')) as result`,
  );
  return agentIds.map((given) => {
    const id = given.toLowerCase();
    const agent = found?.agents.find((one) => one.id === id);
    if (found === null || agent === undefined) throw notFound("agent");
    const own = found.cells.filter(([agentId]) => agentId === id);
    return {
      name: agent.name,
      memorised: toMemorisation(agent.sums).memorised,
      uneven: agent.uneven,
      tallies: new Map(own.map(([, task, n, c, title]) => [task, { n, c, title }])),
    };
  });
}
