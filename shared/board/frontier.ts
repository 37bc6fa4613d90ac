import { sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, purchases, runs, task_scores, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { rounded } from "../scoring/mean.ts";
import { paretoFront } from "../scoring/pareto.ts";
import { meanPassHatK } from "../scoring/pass-k.ts";
import { COST, SCORABLE, SCORED_RUNS } from "./aggregates.ts";

/** The most variants of a group that are shown: what is read of each grows with its runs. */
const MAX_VARIANTS = 500;

const share = z.number().min(0).max(1).nullable();

export const FrontierRead = z
  .object({
    root_id: z.uuid().meta({ description: "The agent that the others are variants of" }),
    is_capped: z.boolean().meta({
      description: `Whether it has more than ${MAX_VARIANTS} variants; then the latest are shown, and the one asked for`,
    }),
    members: z.array(
      z.object({
        agent_id: z.uuid(),
        name: z.string(),
        is_root: z.boolean(),
        is_hired: z.boolean().meta({
          description:
            "A copy that was bought, and whose owner may have made anything of it: what it does says nothing of the others",
        }),
        pass_rate: share.meta({ description: "The mean over tasks of the share of passed runs" }),
        pass_k: z
          .object({ "1": share, "2": share, "3": share, "5": share })
          .meta({ description: "pass^k: the chance that k runs of a task all pass; null without a task of k runs" }),
        mean_cost_per_task_usd: z
          .number()
          .nullable()
          .meta({ description: "The mean over tasks of the mean cost of their wholly priced runs" }),
        priced_runs: z.int().meta({
          description:
            "Of how many of the `runs` that cost is known; where they are fewer, those that are left out may have been dearer",
        }),
        provenance: z.enum(["real", "simulated", "none"]).meta({ description: "The runs that the numbers come from" }),
        model: z.string().nullable().meta({ description: "The serving model of most of these runs" }),
        runs: z.int(),
        on_frontier: z.boolean().meta({
          description: "No member shown here passes at least as much at no more cost and is better in one of the two",
        }),
      }),
    ),
  })
  .meta({ id: "FrontierRead" });

const Member = z.object({
  agent_id: z.string(),
  name: z.string(),
  is_root: z.boolean(),
  is_hired: z.boolean(),
  model: z.string().nullable(),
  simulated: z.boolean().nullable(),
  priced: z.int(),
  cost: z.number().nullable(),
  /** How many tasks it has with so many runs, of which so many passed: `[n, c, tasks]`. */
  tallies: z.array(z.tuple([z.int(), z.int(), z.int()])),
});
type Member = z.output<typeof Member>;

/** A variant group as the database gives it. */
const Group = z.object({ root_id: z.string(), is_capped: z.boolean(), members: z.array(Member) });

/**
 * The variant group of an agent, as far as the caller may see it, the root first, then by age. Every caller gets the same
 * numbers: over the runs that the board scores, simulated ones where a member has no real one. Rates and costs are
 * rounded to six decimals, and the front is taken over what is shown. Throws 404.
 */
export async function readFrontier(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<z.output<typeof FrontierRead>> {
  const visible = visibleAgent(viewerId(principal));
  // The cells say which tasks an agent has runs of. Their runs are found by an index, at most ten for each cell. What they come
  // to is summed up for all members at once: member by member, all runs of the group would be gone through for each. A member's
  // tasks are told by how many are alike, 65 kinds at most: one by one, they are more than one answer of the database holds.
  const group = await read(
    ctx,
    Group,
    sql`with target as (
      select coalesce(a.variant_of, a.id) as root_id from ${agents} a where a.id = ${agentId}::uuid and ${visible}
    ), variants as (
      select a.id, a.name, a.created_at, false as is_root, a.id = ${agentId}::uuid as is_asked,
        exists (select from ${purchases} h where h.hired_agent_id = a.id) as is_hired
      from target x join ${agents} a on a.variant_of = x.root_id
      where ${visible} order by is_asked desc, a.created_at desc, a.id desc limit ${MAX_VARIANTS + 1}
    ), members as (
      select a.id, a.name, a.created_at, true as is_root, false as is_hired
      from target x join ${agents} a on a.id = x.root_id where ${visible}
      union all (select id, name, created_at, is_root, is_hired from variants
        order by is_asked desc, created_at desc, id desc limit ${MAX_VARIANTS})
    ), found as (
      select s.agent_id, s.task_id, s.simulated, r.*, bool_or(not s.simulated) over (partition by s.agent_id) as has_real
      from members m join ${task_scores} s on s.agent_id = m.id and s.period = 'all' join ${tasks} t on t.id = s.task_id
        cross join lateral (
          select r.passed, ${COST} as cost, r.serving_model from ${runs} r
          where r.agent_id = s.agent_id and r.task_id = s.task_id and r.simulated = s.simulated and ${SCORABLE}
          order by r.id desc limit ${SCORED_RUNS}
        ) r
    ), scored as (
      select * from found where simulated = not has_real
    ), cells as (
      select agent_id, task_id, simulated, count(*) as n, count(*) filter (where passed) as c, count(cost) as priced,
        avg(cost) as cost
      from scored group by agent_id, task_id, simulated
    ), played as (
      select agent_id, bool_and(simulated) as simulated, sum(priced) as priced, avg(cost order by task_id) as cost
      from cells group by agent_id
    ), tallied as (
      select agent_id, jsonb_agg(jsonb_build_array(n, c, tasks) order by n, c) as tallies
      from (select agent_id, n, c, count(*) as tasks from cells group by agent_id, n, c) k group by agent_id
    ), served as (
      select distinct on (agent_id) agent_id, serving_model as model from (
        select agent_id, serving_model, count(*) as runs from scored where serving_model is not null group by 1, 2
      ) s order by agent_id, runs desc, serving_model collate "C"
    )
    select jsonb_build_object('root_id', x.root_id,
      'is_capped', (select count(*) > ${MAX_VARIANTS} from variants), 'members', (
      select jsonb_agg(jsonb_build_object(
        'agent_id', m.id, 'name', m.name, 'is_root', m.is_root, 'is_hired', m.is_hired, 'model', s.model,
        'simulated', p.simulated, 'priced', coalesce(p.priced, 0), 'cost', p.cost, 'tallies', coalesce(k.tallies, '[]')
      ) order by m.is_root desc, m.created_at, m.id)
      from members m left join played p on p.agent_id = m.id left join tallied k on k.agent_id = m.id
        left join served s on s.agent_id = m.id)) as result
    from target x`,
  );
  if (group === null) throw notFound("agent");
  const members = group.members.map(summary);
  const front = paretoFront(members.map(({ pass_rate, mean_cost_per_task_usd: cost }) => ({ pass_rate, cost })));
  return {
    root_id: group.root_id,
    is_capped: group.is_capped,
    members: members.map((member, index) => ({ ...member, on_frontier: front[index] ?? false })),
  };
}

function summary({ simulated, priced, cost, tallies, ...member }: Member) {
  const played = tallies.flatMap(([n, c, times]) => Array.from({ length: times }, () => ({ n, c })));
  const pass = (k: number) => shown(meanPassHatK(played, k));
  return {
    ...member,
    pass_rate: pass(1),
    pass_k: { "1": pass(1), "2": pass(2), "3": pass(3), "5": pass(5) },
    mean_cost_per_task_usd: shown(cost),
    priced_runs: priced,
    provenance: provenanceOf(simulated),
    runs: tallies.reduce((sum, [n, _passed, times]) => sum + n * times, 0),
  };
}

function provenanceOf(simulated: boolean | null): "real" | "simulated" | "none" {
  if (simulated === null) return "none";
  return simulated ? "simulated" : "real";
}

const shown = (value: number | null): number | null => (value === null ? null : rounded(value));
