import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, api_keys, run_days, teams } from "../db/schema/index.ts";
import { type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";

const DAY_MS = 86_400_000;

/** How many days a report may span, and how many it spans where none are asked for. */
const DAYS = { most: 92, default: 30 };

/** No run is older; the days before take years that a date can't be written with. */
const EARLIEST = "2000-01-01";

/** How many agents or keys a report names: those with the most runs. */
const ROWS = 1000;

const WAYS = ["day", "agent", "key"] as const;

const day = (description: string) =>
  z.iso
    .date()
    .optional()
    .meta({ description, examples: ["2026-11-01"] });

export const usageQuery = z.object({
  from: day(`The first day, by UTC; without it the report spans ${DAYS.default} days`),
  to: day("The last day; today where it is left out"),
  by: z.enum(WAYS).default("day").meta({ description: "What each row is about" }),
  team_id: z.uuid().optional().meta({ description: "A workspace that the caller is a member of" }),
});

const used = {
  runs: z.int().meta({
    description: "All that were asked for, whatever became of them: those that a month's allowance got back, too",
  }),
  passed: z.int().meta({ description: "How many of them passed" }),
  evidence_cost_usd: z
    .number()
    .nullable()
    .meta({ description: "What is known of the cost of these runs; null where nothing is, as of simulated ones" }),
};

const span = {
  from: z.iso.date().meta({ description: "The first day" }),
  to: z.iso.date().meta({ description: "The last day" }),
  totals: z.object(used).meta({ description: "The sums over all rows, shown or not" }),
};

const ROW = {
  day: z.object({ date: z.iso.date().meta({ description: "The day, by UTC" }), ...used }),
  agent: z.object({
    agent_id: z.uuid(),
    name: z.string().nullable().meta({ description: "Null where the caller can't see the agent" }),
    ...used,
  }),
  key: z.object({
    api_key_id: z.uuid().nullable().meta({ description: "Null for what no key asked for, or one that is gone" }),
    name: z.string().nullable().meta({ description: "Null, too, where the key is another member's own" }),
    ...used,
  }),
};

const isBy = <W extends (typeof WAYS)[number]>(way: W) =>
  z.literal(way).meta({ description: "What each row is about" });
const listOf = <R extends z.ZodType>(row: R) => z.array(row).meta({ description: "The rows, in order" });

export const UsageRead = z
  .discriminatedUnion("by", [
    z.object({ by: isBy("day"), ...span, items: listOf(ROW.day) }),
    z.object({ by: isBy("agent"), ...span, items: listOf(ROW.agent) }),
    z.object({ by: isBy("key"), ...span, items: listOf(ROW.key) }),
  ])
  .meta({ id: "UsageRead" });

const Found = z.object({ allowed: z.boolean(), report: UsageRead });

/**
 * SQL: what a row of each kind of report says besides its sums, over the days `d`; what the days are grouped by, and the
 * order of the rows.
 */
function rowsBy(viewer: string): Record<(typeof WAYS)[number], { says: SQL; from: SQL; group: SQL; order: SQL }> {
  const most = sql`sum(d.runs) desc`;
  return {
    day: { says: sql`'date', d.day`, from: sql``, group: sql`d.day`, order: sql`d.day desc` },
    agent: {
      says: sql`'agent_id', a.id, 'name', case when ${visibleAgent(viewer)} then a.name end`,
      from: sql`join ${agents} a on a.id = d.agent_id`,
      group: sql`a.id`,
      order: sql`${most}, a.id`,
    },
    key: {
      says: sql`'api_key_id', k.id, 'name', case when ${viewer}::uuid in (k.user_id, k.team_id)
        or k.team_id = d.team_id then k.name end`,
      from: sql`left join ${api_keys} k on k.id = d.api_key_id`,
      group: sql`k.id, d.team_id`,
      order: sql`${most}, k.id`,
    },
  };
}

/** SQL: the sums over the days `d`, as members of JSON. */
const sums: SQL = sql`'runs', coalesce(sum(d.runs), 0), 'passed', coalesce(sum(d.passed), 0),
  'evidence_cost_usd', case when sum(d.costs) > 0 then sum(d.cost_usd) end`;

/**
 * What the caller's own runs were in some days, both ends among them: those that the caller asked for at their own expense;
 * with a `team_id`, or by a workspace's key, those at the expense of that workspace. It is read from the sums of days, not
 * from runs. Throws `validation_failed` for days in the wrong order or too many of them, and 404 for a workspace that the
 * caller is not a member of.
 */
export async function readUsage(
  ctx: Context,
  principal: UserPrincipal,
  { by, team_id, ...asked }: z.output<typeof usageQuery>,
): Promise<z.output<typeof UsageRead>> {
  const { from, to } = spanOf(ctx, asked);
  const viewer = principal.userId;
  const team = team_id ?? workspaceOf(principal);
  const whose = team === null ? sql`d.team_id is null and d.user_id = ${viewer}::uuid` : sql`d.team_id = ${team}::uuid`;
  const owner = { user_id: sql`null::uuid`, team_id: sql`t.id` };
  const allowed =
    team === null
      ? sql`true`
      : sql`exists (select from ${teams} t where t.id = ${team}::uuid and ${may("see", viewer, owner)})`;
  const { says, from: joined, group, order } = rowsBy(viewer)[by];
  const found = await read(
    ctx,
    Found,
    sql`with days as (
      select d.* from ${run_days} d where ${whose} and d.day between ${from}::date and ${to}::date
    ), grouped as (
      select jsonb_build_object(${says}, ${sums}) as row, row_number() over (order by ${order}) as place
      from days d ${joined} group by ${group} order by place limit ${ROWS}
    ) select jsonb_build_object('allowed', ${allowed}, 'report', jsonb_build_object('by', ${by}::text,
        'from', ${from}::date, 'to', ${to}::date, 'totals', (select jsonb_build_object(${sums}) from days d),
        'items', coalesce((select jsonb_agg(row order by place) from grouped), '[]'))) as result`,
  );
  if (found === null || !found.allowed) throw notFound("workspace");
  return found.report;
}

/** The days of a report. */
function spanOf(ctx: Context, asked: { from?: string | undefined; to?: string | undefined }) {
  for (const name of ["from", "to"] as const) {
    if ((asked[name] ?? EARLIEST) < EARLIEST) throw wrongSpan(name, `Give a day from ${EARLIEST} on.`);
  }
  const to = asked.to ?? dateOf(ctx.now().getTime());
  const from = asked.from ?? dateOf(Date.parse(to) - (DAYS.default - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw wrongSpan("from", `The first day, ${from}, comes after the last, ${to}; exchange them.`);
  if (days > DAYS.most) {
    const most = `A report spans at most ${DAYS.most} days, and these are ${days}; ask for the others on their own.`;
    throw wrongSpan(asked.from === undefined ? "to" : "from", most);
  }
  return { from, to };
}

function wrongSpan(name: string, message: string): Problem {
  return new Problem("validation_failed", message, {
    errors: [{ in: "query", pointer: `/${name}`, code: "validation_failed", message }],
  });
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
