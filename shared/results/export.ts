import { getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { utcText } from "../db/instant.ts";
import { ends, firstBy, fitted, PAGE } from "../db/rows.ts";
import { agents, runs, screening_sessions, users } from "../db/schema/index.ts";
import { actorId, type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { RunRead } from "../runs/shown.ts";
import { visibleSession } from "../runs/sessions.ts";
import {
  askedFor,
  askedIn,
  eachOf,
  mayRun,
  OWNER_COLUMNS,
  runJson,
  runsWithAgents,
  TIMES,
  visibleRun,
} from "../runs/view.ts";

type Column = Exclude<keyof typeof RunRead.shape, "axes">;

/** The scalar fields of RunRead, in its order: the columns of the file. */
const COLUMNS = Object.keys(RunRead.shape).filter((name): name is Column => name !== "axes");

/** What stands in a column for a caller who neither owns the agent nor is a member of its workspace, as in `runJson`. */
const FOR_OTHERS: Partial<Record<Column, SQL>> = {
  ...Object.fromEntries(OWNER_COLUMNS.map((name) => [name, sql`null`])),
  architecture_version: sql`r.architecture_public_version`,
};

/** How a cell begins that a spreadsheet takes for a formula (OWASP, CSV Injection), and the numbers among those cells. */
const FORMULA = "^[=+\\-@\\t\\r\\n＝＋－＠]";
const NUMBER = "^[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$";

/** SQL: the text of a cell by RFC 4180, with an apostrophe in front of what would be a formula. */
function textCell(value: SQL): SQL {
  const harmless = sql`case when ${value} ~ ${FORMULA} and ${value} !~ ${NUMBER} then '''' || ${value} else ${value} end`;
  return sql`case when ${value} ~ ${`[",\\r\\n]|${FORMULA}`} then '"' || replace(${harmless}, '"', '""') || '"' else ${value} end`;
}

/** The columns that hold words of ours, which a cell takes as they are: to look at each costs a twentieth of the file. */
const OWN_WORDS = new Set(
  COLUMNS.filter((name) => {
    const type = RunRead.shape[name];
    return (type instanceof z.ZodOptional ? type.unwrap() : type) instanceof z.ZodEnum;
  }),
);

/** SQL: the cell of a column of the run row `r`, as `format` writes it; times and numbers as in RunRead, null for null. */
function cell(name: Column): SQL {
  const own = sql`r.${sql.identifier(name)}`;
  const other = FOR_OTHERS[name];
  const value = other === undefined ? own : sql`(case when r.owned then ${own} else ${other} end)`;
  const type = getTableColumns(runs)[name].getSQLType();
  if (type === "text") return OWN_WORDS.has(name) ? value : textCell(value);
  if (type === "boolean") return sql`${value}::text`;
  if (type.startsWith("numeric")) return sql`trim_scale(${value})`;
  if (type.startsWith("timestamp")) return utcText(value);
  return value;
}

/** A form that the file may have: how it begins, and SQL for the line of the run row `r` with `owned`, with its end. */
const FORMS = {
  csv: {
    head: `${COLUMNS.join(",")}\r\n`,
    // Nothing for null. It writes a row in two thirds of the time of `concat`, which is given the commas one by one.
    line: sql`format(E${sql.raw(`'${COLUMNS.map(() => "%s").join(",")}\\r\\n'`)}, ${sql.join(COLUMNS.map(cell), sql`, `)})`,
  },
  jsonl: { head: "", line: sql`${runJson(sql`r.owned`, TIMES)}::text || E'\\n'` },
};

/** A form that the file may have: RFC 4180 with the scalar fields, or a RunRead as JSON a line. */
export type ExportForm = keyof typeof FORMS;

/** What a file is narrowed to: the runs of an agent, of a screening session, or of both. */
export interface ExportNarrowing {
  agent_id?: string | undefined;
  screening_session_id?: string | undefined;
}

const Page = z.object({
  entitled: z.boolean(),
  /** What of that which the file is narrowed to the caller may not see; null where all is visible. */
  missing: z.string().nullable(),
  /** Whether there may be rows after these. */
  more: z.boolean(),
  /** The id of the last row; null without a row. */
  last: z.string().nullable(),
  /** The id of the row with which a full page after this one would end; null where none would be full. */
  ahead: z.string().nullable(),
  lines: z.string(),
});
type Page = z.output<typeof Page>;

/** Which rows a page is of: those behind the id `after`, to the id `until`; without, from the first, to the last. */
interface Stretch {
  after: string | null;
  until: string | null;
}

/**
 * All runs that `mine` lists, newest first, a line for each: as CSV (RFC 4180) below a header line, or as JSON Lines. While
 * the file is read, its pages are read by key, each in one statement, two at once and ahead of the reader: runs made in the
 * meantime do not appear, and none appears twice or is left out. Throws `plan_required` on the Free plan and 404 for an agent
 * or a session that is not visible; where that happens only after the beginning, the file breaks off.
 */
export async function exportRuns(
  ctx: Context,
  principal: UserPrincipal,
  narrowing: ExportNarrowing,
  form: ExportForm,
): Promise<() => AsyncGenerator<string>> {
  const { head, line } = FORMS[form];
  const pageOf = (stretch: Stretch) => readAhead(readPage(ctx, principal, narrowing, line, stretch));
  let page: Page = await pageOf({ after: null, until: null });
  return async function* () {
    for (let before = head; ; before = "") {
      const { more, last: after, ahead: until } = page;
      let between = more && until !== null ? pageOf({ after, until }) : null;
      const next = more ? pageOf({ after: until ?? after, until: null }) : null;
      yield before + page.lines;
      // A page is let go of when the next one is there.
      while (between !== null) {
        page = await between;
        between = page.more ? pageOf({ after: page.last, until }) : null;
        yield page.lines;
      }
      if (next === null) return;
      page = await next;
    }
  };
}

/** What is read ahead of a reader: whether it fails is heard where it is waited for, and of a reader who is gone, nobody waits. */
function readAhead<T>(reading: Promise<T>): Promise<T> {
  reading.catch(() => undefined);
  return reading;
}

async function readPage(
  ctx: Context,
  principal: UserPrincipal,
  narrowing: ExportNarrowing,
  line: SQL,
  { after, until }: Stretch,
): Promise<Page> {
  const viewer = principal.userId;
  const team = workspaceOf(principal);
  const agentId = narrowing.agent_id ?? null;
  const sessionId = narrowing.screening_session_id ?? null;
  const narrowed = agentId === null ? sql`` : sql`and r.agent_id = ${agentId}::uuid`;
  // A session has few runs, so its own are looked through: `offset 0` keeps the planner from looking through the caller's.
  const source =
    sessionId === null
      ? sql`${runs}`
      : sql`(select * from ${runs} where screening_session_id = ${sessionId}::uuid offset 0)`;
  // Each run's agent is looked at by itself: where the two are joined for it, the planner reads all runs.
  const seen = sql`(select ${visibleRun(viewer)} from ${agents} a where a.id = r.agent_id)`;
  const isWhole = agentId === null && sessionId === null;
  const as = isWhole ? eachOf : undefined;
  const asked = team === null ? askedFor("r", viewer, as) : sql`${askedIn(team, as)} and ${seen}`;
  const by = team === null ? sql`r.user_id` : sql`r.team_id`;
  const first = (most: number) => (isWhole ? firstBy(by, sql`r.id`, most) : sql`order by r.id desc limit ${most}`);
  const where = sql`${asked} ${narrowed}`;
  const behind = (id: SQL) => sql`and r.id < ${id}::uuid`;
  const within = sql`${after === null ? sql`` : behind(sql`${after}`)} ${until === null ? sql`` : sql`and r.id >= ${until}::uuid`}`;
  // Of a stretch with an end it is known how many rows it has, so that a full page is its last.
  const limit = until === null ? PAGE.rows : PAGE.rows + 1;
  const missing = sql`case
    when ${agentId}::uuid is not null and not exists (
      select from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}) then 'agent'
    when ${sessionId}::uuid is not null and not exists (
      select from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
      where s.id = ${sessionId}::uuid and ${visibleSession(viewer)}) then 'screening session' end`;
  const lines = sql`select r.id, ${line} as item
    from (
      select r.*, ${mayRun("see", viewer)} as owned from ${runsWithAgents(source)}
      where ${where} and u.plan <> 'free' ${within}
      ${first(limit)}
    ) r offset 0`;
  const ahead = sql`case when ${until === null} and (p.page ->> 'more')::boolean then (
    select r.id from ${source} r where ${where} ${behind(sql`(p.page ->> 'last')`)}
    ${first(1)} offset ${PAGE.rows - 1}) end`;
  const page = await read(
    ctx,
    Page,
    sql`select p.page || jsonb_build_object('entitled', u.plan <> 'free', 'missing', ${missing}, 'ahead', ${ahead}) as result
      from ${users} u cross join lateral (
        select jsonb_build_object(${ends(limit)},
          'lines', coalesce(string_agg(x.item, '' order by x.id desc) filter (where x.fits), '')) as page
        from (${fitted(lines)}) x
      ) p
      where u.id = ${actorId(principal)}::uuid`,
  );
  if (page === null || !page.entitled) {
    throw new Problem("plan_required", "The export needs the plan Pro or a higher one; upgrade the account to get it.");
  }
  if (page.missing !== null) throw notFound(page.missing);
  return page;
}
