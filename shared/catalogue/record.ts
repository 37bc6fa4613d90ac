import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { ANSWERED } from "../db/listing.ts";
import { isAmong } from "../db/pieces.ts";
import { suite_changes, suite_readings, suite_records, suites, tasks } from "../db/schema/index.ts";
import { canonicalBytes } from "../platform/canonical.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { absorb, beginHash, digestOf, type Hashing, loadHash, saveHash } from "../platform/resumable-sha256.ts";
import { logEntry, logged } from "../transparency/logged.ts";
import { taskJson } from "./reads.ts";
import { TaskRead } from "./shown.ts";

/** How many pages of suites one call reads; it goes on with the others a minute later. */
const PAGES = 20;
/** How many tasks are in a page, if their JSON fits into an answer. */
const SIZE = 100;
/** How many changes one call takes note of. */
const CHANGES = 10_000;

/** The next page of a suite that is being read. */
const Page = z.object({
  reading: z.uuid(),
  hash: z.string().nullable(),
  tasks: z.array(TaskRead),
  more: z.boolean(),
});
type Page = z.output<typeof Page>;

/**
 * Says in the log what each suite consists of that has changed since the log last said so: SHA-256 over the public form of
 * its active tasks, in the order of their ids. One statement where none has changed, two more for each page of one that has,
 * and at most 20 pages a call; suites are of any size. Done twice or by two at once, it says the same once. A suite is said
 * only as it was at one time: what changes while it is read has it read anew.
 */
export async function recordSuites(ctx: Context): Promise<void> {
  if (!(await beginReadings(ctx))) return;
  let behind: string | null = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const page: Page | null = await nextPage(ctx, behind);
    if (page === null) return;
    const hash = absorbed(page);
    if (page.more) {
      await goOn(ctx, page, hash);
    } else {
      await finish(ctx, page, digestOf(absorb(hash, Buffer.from("]"))));
      behind = page.reading;
    }
  }
}

/** What tells how tasks are shown now from how they were before: after a deployment that changes it, all suites are read. */
function fingerprint(): string {
  const { sql: text, params } = new PgDialect().sqlToQuery(taskJson);
  return sha256(JSON.stringify([text, params]));
}

/** Takes note of what changed, and begins to read those suites; returns whether there is any to be read. */
async function beginReadings(ctx: Context): Promise<boolean> {
  const form = fingerprint();
  const found = await write(ctx, {
    parts: sql`with taken as (
      delete from ${suite_changes} where ${isAmong(
        sql`select ctid from ${suite_changes} order by id limit ${CHANGES} for update skip locked`,
      )} returning suite_id
    ), due as (
      select suite_id from taken union
      select k.id from ${suites} k left join ${suite_records} r on r.suite_id = k.id
        left join ${suite_readings} g on g.suite_id = k.id
      where coalesce(g.fingerprint, r.fingerprint) is distinct from ${form}
    ), begun as (
      insert into ${suite_readings} (suite_id, fingerprint) select suite_id, ${form} from due order by suite_id
      on conflict (suite_id) do update set reading = excluded.reading, fingerprint = excluded.fingerprint,
        after = null, hash = null
      returning suite_id
    )`,
    select: sql`select to_jsonb(exists (select from begun) or exists (select from ${suite_readings}))`,
    result: z.boolean(),
  });
  return found === true;
}

/** The next page of the reading that was begun first, or first after another one; null where there is none. */
async function nextPage(ctx: Context, behind: string | null): Promise<Page | null> {
  const rest = sql`select t.* from ${tasks} t
    where t.suite_id = g.suite_id and t.is_active and (g.after is null or t.id > g.after) order by t.id limit ${SIZE}`;
  return read(
    ctx,
    Page,
    sql`select json_build_object('reading', g.reading, 'hash', g.hash, 'tasks', p.tasks, 'more', p.more) as result
    from (
      select * from ${suite_readings} where ${behind}::uuid is null or reading > ${behind}::uuid order by reading limit 1
    ) g cross join lateral (
      select coalesce(json_agg(task order by id) filter (where fits), '[]') as tasks,
        count(*) = ${SIZE} or not coalesce(bool_and(fits), true) as more
      from (
        select id, task, sum(pg_column_size(task)) over (order by id) <= ${ANSWERED} or row_number() over (order by id) = 1 as fits
        from (select t.id, ${taskJson} as task from (${rest}) t offset 0) one
      ) x
    ) p`,
  );
}

/** The hash of a suite's tasks up to the end of a page, as JSON of an array that goes on. */
function absorbed({ hash, tasks: own }: Page): Hashing {
  let all = hash === null ? absorb(beginHash(), Buffer.from("[")) : loadHash(hash);
  for (const [index, task] of own.entries()) {
    const bytes = canonicalBytes(task);
    all = absorb(all, hash === null && index === 0 ? bytes : Buffer.concat([Buffer.from(","), bytes]));
  }
  return all;
}

async function goOn(ctx: Context, { reading, tasks: own }: Page, hash: Hashing): Promise<void> {
  await ctx.db.execute(sql`update ${suite_readings} set after = ${own.at(-1)?.id ?? null}::uuid, hash = ${saveHash(hash)}
    where reading = ${reading}::uuid`);
}

/** Says the digest of a suite, unless something of it has changed since its reading was begun: each change is noted, or has begun another one. */
async function finish(ctx: Context, { reading }: Page, digest: string): Promise<void> {
  await write(ctx, {
    parts: sql`with whole as (
      delete from ${suite_readings} g where g.reading = ${reading}::uuid
        and not exists (select from ${suite_changes} c where c.suite_id = g.suite_id) returning g.suite_id, g.fingerprint
    ), recorded as (
      insert into ${suite_records} (suite_id, suite_version, fingerprint, sha256, recorded_at)
      select k.id, k.version, w.fingerprint, ${digest}, ${ctx.now().toISOString()}::timestamptz
      from whole w join ${suites} k on k.id = w.suite_id
      on conflict (suite_id) do update set suite_version = excluded.suite_version, fingerprint = excluded.fingerprint,
        sha256 = excluded.sha256, recorded_at = excluded.recorded_at
      returning suite_id, suite_version, sha256
    ), said as (${logged(sayingOf(sql`recorded`))})`,
    select: sql`select to_jsonb(count(*)) from recorded`,
    result: z.int(),
  });
}

/** SQL: the entries of the log about recorded suites. */
function sayingOf(recorded: SQL): SQL {
  const members = { sha256: sql`sha256`, suite_id: sql`suite_id`, suite_version: sql`suite_version` };
  return sql`select ${logEntry("suite", members)} from ${recorded}`;
}
