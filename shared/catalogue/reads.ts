import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { pageJson, shortParts } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { suites, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { templateOf } from "../suites/template-of.ts";
import { type TaskDomain } from "./domains.ts";
import { SuiteRead, TaskRead } from "./shown.ts";

const Tasks = pageResult(TaskRead);
const Suites = pageResult(SuiteRead);

/** SQL: the public JSON of the task row `t`: never the key, and of a secret task nothing that it says. */
export const taskJson: SQL = sql`json_build_object(
  'id', t.id, 'title', t.title, 'domain', t.domain,
  'instances', case when ${templateOf} is null then 'fixed' else 'minted' end,
  'template', ${templateOf}, 'prompt', case when not t.is_secret then t.prompt end,
  'input', case when not t.is_secret then t.input end, 'output_format', t.output_format,
  'output_schema', case when not t.is_secret then t.output_schema end, 'tools', case when not t.is_secret then t.tools end,
  'grader_type', t.grader ->> 'type', 'suite_id', t.suite_id, 'suite_version', t.suite_version,
  'is_active', t.is_active, 'is_secret', t.is_secret, 'time_limit_ms', t.time_limit_ms,
  'reference_cost_usd', t.reference_cost_usd, 'reference_latency_ms', t.reference_latency_ms,
  'expected_tool_calls', t.expected_tool_calls, 'pass_threshold', t.pass_threshold, 'created_at', t.created_at)`;

/** SQL: the JSON of the suite row `s`. */
export const suiteJson: SQL = sql`json_build_object('id', s.id, 'slug', s.slug, 'name', s.name, 'description', s.description,
  'version', s.version, 'is_secret', s.is_secret,
  'task_count', (select count(*) from ${tasks} t where t.suite_id = s.id and t.is_active),
  'domains', coalesce((select jsonb_agg(distinct t.domain) from ${tasks} t where t.suite_id = s.id and t.is_active), '[]'))`;

/** One task; throws 404. */
export async function readTask(ctx: Context, taskId: string): Promise<z.output<typeof TaskRead>> {
  const task = await read(
    ctx,
    TaskRead,
    sql`select ${taskJson} as result from ${tasks} t where t.id = ${taskId}::uuid`,
  );
  if (task === null) throw notFound("task");
  return task;
}

/** In which orders tasks can be listed: each is sorted as it is read. */
export const TASK_SORTS = [
  "position",
  "-position",
  "created_at",
  "-created_at",
  "title",
  "-title",
  "domain",
  "-domain",
] as const;
type TaskSort = (typeof TASK_SORTS)[number];

/** SQL: suite by suite, each in its order. */
const BY_POSITION = sql`s.created_at nulls last, s.id, t.position, t.id`;
const BY_POSITION_BACK = sql`s.created_at desc nulls first, s.id desc, t.position desc, t.id desc`;

function orderOf(sort: TaskSort): SQL {
  if (sort === "position") return BY_POSITION;
  if (sort === "-position") return BY_POSITION_BACK;
  const down = sort.startsWith("-");
  return sql`t.${sql.identifier(sort.replace("-", ""))} ${down ? sql`desc` : sql``}, ${BY_POSITION}`;
}

/** What a list of tasks is narrowed to. */
export interface TaskFilter {
  domain?: z.output<typeof TaskDomain> | undefined;
  suite_id?: string | undefined;
  is_active?: boolean | undefined;
  sort?: TaskSort | undefined;
  page: number;
  page_size: number;
}

/** A page of the active tasks, or of the retired ones, suite by suite or as `sort` says; throws 404 for a suite that does not exist. */
export async function listTasks(
  ctx: Context,
  { domain, suite_id: suiteId, is_active: isActive = true, sort = "position", ...paging }: TaskFilter,
): Promise<z.output<typeof Tasks>> {
  const condition = sql`t.is_active = ${isActive} ${domain === undefined ? sql`` : sql`and t.domain = ${domain}`}
    ${suiteId === undefined ? sql`` : sql`and t.suite_id = ${suiteId}::uuid`}`;
  const exists =
    suiteId === undefined ? sql`true` : sql`exists (select from ${suites} s where s.id = ${suiteId}::uuid)`;
  // Their keys alone are sorted: with all that tasks say, thousands of them would be written to disk for that.
  const hits = sql`select t.id, row_number() over (order by ${orderOf(sort)}) as place
    from ${tasks} t left join ${suites} s on s.id = t.suite_id where ${condition}`;
  const items = sql`(select json_agg(${taskJson} order by p.place) from paged p join ${tasks} t using (id))`;
  const found = await readPage(
    ctx,
    Tasks,
    paging,
    (stretch) =>
      sql`with ${shortParts(hits, "h", sql`h.place`, stretch)} select ${pageJson(items)} as result where ${exists}`,
  );
  if (found === null) throw notFound("suite");
  return found;
}

/** One suite; throws 404. */
export async function readSuite(ctx: Context, suiteId: string): Promise<z.output<typeof SuiteRead>> {
  const suite = await read(
    ctx,
    SuiteRead,
    sql`select ${suiteJson} as result from ${suites} s where s.id = ${suiteId}::uuid`,
  );
  if (suite === null) throw notFound("suite");
  return suite;
}

/** A page of the suites, oldest first. */
export async function listSuites(
  ctx: Context,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Suites>> {
  const order = sql`s.created_at, s.id`;
  const hits = sql`select * from ${suites}`;
  const items = sql`(select json_agg(${suiteJson} order by ${order}) from paged s)`;
  const found = await readPage(ctx, Suites, paging, (stretch) => {
    const parts = shortParts(hits, "s", order, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return found ?? { items: [], total: 0 };
}
