import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { type FirstRow, narrowing } from "../db/narrowing.ts";
import type { Piece } from "../db/pieces.ts";
import { board_days, board_entries, board_pages, board_scores } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { absorb, beginHash, digestOf, type Hashing, loadHash, saveHash } from "../platform/resumable-sha256.ts";
import { logEntry, logged } from "../transparency/logged.ts";

/** How many agents one piece copies or ranks. */
const SIZE = 5000;

/** SQL: the entries that a day is made of, of the agents after one. */
const entriesAfter = (agent: string | null): SQL =>
  sql`b.domain = 'all' and b.period = 'all' and (${agent}::uuid is null or b.agent_id > ${agent}::uuid)`;

/** Where a piece begins: to copy the agents after one, to rank those that were copied, or to hash from a page on. */
const CURSOR = /^(\d{4}-\d\d-\d\d) (?:after ?(\S*)|rank|hash (\d+) (\S+))$/;

/**
 * Keeps the board of everything as it is today, piece by piece: copies each agent's entry once, closes the day, ranks what
 * was copied, hashes it page by page, and publishes it, with its digest in the log. Ranks are of the copies, which nothing
 * changes any more, so that they fit together however long it takes and whatever moves meanwhile. A day that is not copied by
 * its end is given up for the one that has come. A day that is published stays; doing a piece again, or two at once, changes
 * nothing. An agent whose copy the database refuses is stepped over, and is not on the day's board. A piece is one statement of
 * at most 5,000 agents, and one more at the end.
 */
export function keepDay(ctx: Context, cursor: string | null): Promise<Piece> {
  return narrowing(ctx, cursor, {
    size: SIZE,
    work: (place, size) => keepPiece(ctx, place, size),
    first: (place) => firstToCopy(ctx, place),
  });
}

async function keepPiece(ctx: Context, cursor: string | null, size: number): Promise<Piece> {
  const [, day, after = null, page, hashed = ""] = CURSOR.exec(cursor ?? "") ?? [];
  const today = ctx.now().toISOString().slice(0, 10);
  // A day of which a part was left until another one came can't be kept any more: the rest of its board has moved since.
  const isLate = day !== undefined && day < today && after !== null;
  if (day === undefined || isLate) return { next: await open(ctx, today) };
  if (page !== undefined) return { next: await hashPage(ctx, day, Number(page), loadHash(hashed)) };
  if (cursor?.endsWith("rank") === true) {
    if (await rank(ctx, day)) return { next: cursor };
    return { next: hashing(day, 0, absorb(beginHash(), Buffer.from(AROUND.before(day)))) };
  }
  const last = await copy(ctx, day, after === "" ? null : after, size);
  return { next: last === null ? await close(ctx, day) : copying(day, last) };
}

/** The cursor of the piece that copies the agents after one. */
function copying(day: string, agent: string): string {
  return `${day} after ${agent}`;
}

async function firstToCopy(ctx: Context, cursor: string | null): Promise<FirstRow | null> {
  const [, day, after = null] = CURSOR.exec(cursor ?? "") ?? [];
  if (day === undefined || after === null) return null;
  const id = await read(
    ctx,
    z.uuid(),
    sql`select to_jsonb(b.agent_id) as result from ${board_entries} b where ${entriesAfter(after === "" ? null : after)}
      order by b.agent_id limit 1`,
  );
  return id === null ? null : { cursor: copying(day, id), named: { agent_id: id } };
}

async function open(ctx: Context, day: string): Promise<string | null> {
  const isPublished = await write(ctx, {
    parts: sql`with opened as (insert into ${board_days} (day) values (${day}::date) on conflict (day) do nothing)`,
    select: sql`select to_jsonb(exists (select from ${board_days} where day = ${day}::date and sha256 is not null))`,
    result: z.boolean(),
  });
  return isPublished === true ? null : `${day} after`;
}

/** Copies the next agents after one; returns the last of them, or null where none follow. */
async function copy(ctx: Context, day: string, after: string | null, size: number): Promise<string | null> {
  // Whoever copies holds the day open; one that comes after the closing copies nothing.
  return write(ctx, {
    parts: sql`with opened as (
      select day from ${board_days} where day = ${day}::date and closed_at is null for share
    ), picked as (
      select b.*, o.day from opened o cross join ${board_entries} b
      where ${entriesAfter(after)} order by b.agent_id limit ${size}
    ), copied as (
      insert into ${board_scores} (agent_id, day, tier, composite_score, score_low, score_high, runs, tasks, is_ranked)
      select agent_id, day, tier, composite_score, score_low, score_high, runs, tasks, tier = 0 and listed from picked
      on conflict (agent_id, day) do nothing
    )`,
    select: sql`select to_jsonb(max(agent_id::text)) from picked having count(*) = ${size}`,
    result: z.uuid(),
  });
}

async function close(ctx: Context, day: string): Promise<string> {
  await ctx.db.execute(sql`update ${board_days} set closed_at = ${ctx.now().toISOString()}::timestamptz
    where day = ${day}::date and closed_at is null`);
  return `${day} rank`;
}

/** SQL: a row of the day's board, `n`, in RFC 8785 form. */
const ROW: SQL = sql`'{"agent_id":"' || n.agent_id || '","composite_score":' || trim_scale(n.composite_score) || ',"rank":' || n.rank
  || ',"runs":' || n.runs || ',"score_high":' || trim_scale(n.score_high) || ',"score_low":' || trim_scale(n.score_low)
  || ',"tasks":' || n.tasks || '}'`;

/** Ranks the next agents of a day, and keeps their rows as a page; returns whether there were any. */
async function rank(ctx: Context, day: string): Promise<boolean> {
  const order = sql`composite_score desc, runs desc, agent_id`;
  const found = await write(ctx, {
    parts: sql`with before as (
      select count(*)::integer as pages, coalesce(sum(entries), 0)::integer as entries
      from ${board_pages} where day = ${day}::date
    ), next as (
      select s.*, s.n + b.entries as rank from before b cross join (
        select agent_id, composite_score, score_low, score_high, runs, tasks,
          row_number() over (order by ${order})::integer as n
        from ${board_scores} where day = ${day}::date and is_ranked and rank is null order by ${order} limit ${SIZE}) s
    ), page as (
      insert into ${board_pages} (day, page, entries, body)
      select ${day}::date, b.pages, count(*), string_agg(${ROW}, ',' order by n.rank)
      from before b join next n on true group by b.pages
      on conflict (day, page) do nothing returning page
    ), ranked as (
      update ${board_scores} s set rank = n.rank from next n, page
      where s.agent_id = n.agent_id and s.day = ${day}::date
    )`,
    select: sql`select to_jsonb(count(*)) from next`,
    result: z.int(),
  });
  return found !== null && found > 0;
}

/** SQL: what stands around the rows of a day's board. */
export const AROUND = { before: (day: string) => `{"day":"${day}","items":[`, after: "]}" } as const;

/** The cursor of the piece that hashes a page, after what was hashed before it. */
function hashing(day: string, page: number, before: Hashing): string {
  return `${day} hash ${page} ${saveHash(before)}`;
}

/** Hashes a page of a day whose agents are all ranked; after the last one it publishes the day. */
async function hashPage(ctx: Context, day: string, page: number, before: Hashing): Promise<string | null> {
  const { pages, body } = (await read(
    ctx,
    z.object({ pages: z.int(), body: z.string().nullable() }),
    sql`select jsonb_build_object('pages', (select count(*) from ${board_pages} where day = ${day}::date),
      'body', (select body from ${board_pages} where day = ${day}::date and page = ${page})) as result`,
  )) ?? { pages: 0, body: null };
  const rows = absorb(before, Buffer.from(`${page > 0 ? "," : ""}${body ?? ""}`));
  if (page + 1 < pages) return hashing(day, page + 1, rows);
  await publish(ctx, day, digestOf(absorb(rows, Buffer.from(AROUND.after))));
  return null;
}

/** Says in the log what the board of a day is; from then on it is served. */
async function publish(ctx: Context, day: string, sha256: string): Promise<void> {
  await write(ctx, {
    parts: sql`with published as (
      update ${board_days} set published_at = ${ctx.now().toISOString()}::timestamptz, sha256 = ${sha256}
      where day = ${day}::date and closed_at is not null and sha256 is null returning day, sha256
    ), said as (${logged(sql`select ${logEntry("board", { day: sql`day::text`, sha256: sql`sha256` })} from published`)})`,
    select: sql`select to_jsonb(count(*)) from published`,
    result: z.int(),
  });
}
