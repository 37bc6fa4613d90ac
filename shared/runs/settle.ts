import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { markVerified } from "../agents/parts.ts";
import { giveBackAllowance } from "../allowances/take.ts";
import { read } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { inSeries, kept, writeSeries } from "../db/kept.ts";
import { FIRST } from "../db/cursors.ts";
import { type Piece, steppingOver } from "../db/pieces.ts";
import { held_results, isOpenRun, run_evidence, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { logEntry, logged, sha256Hex } from "../transparency/logged.ts";
import { oweEvents, sessionEvents } from "./announcements.ts";
import { oweComparisons } from "./follow-up.ts";
import { releaseResults, signing } from "./held.ts";
import { appendFacts, toFacts } from "./phases.ts";
import { rescore, sumUp } from "./sum-up.ts";
import { VERIFIES } from "./verified.ts";

/** How many sessions one call settles that were forgotten, and how many it looks at that are not settled yet. */
const SIZE = 5;
const LOOKED_AT = 500;

/**
 * Tells what was put aside while runs of a session were open, in one round trip, whole or not at all: which of them were
 * canaries, whose allowance is given back; the statements of the others, which the log names; and what those add to cells,
 * board and events. Only then is the session over. A session with an open run stays as it is, and so does one that was
 * settled before.
 */
export async function settle(ctx: Context, sessionId: string): Promise<void> {
  const session = { session: sessionId };
  const sessionNow = { ...session, at: ctx.now().toISOString() };
  await writeSeries(ctx, SETTLE.with([session, sessionNow, sessionNow, sessionNow, session]), []);
  ctx.cache.invalidate("board");
}

const SESSION = { session: "uuid" } as const;
const SESSION_NOW = { ...SESSION, at: "timestamptz" } as const;

/** Locks the row of the session's agent. */
export const LOCK_SCREENED = kept("lock_screened", SESSION, (value) => ({
  parts: sql`with locked as (
    ${lockAgents(sql`select s.agent_id from ${screening_sessions} s where s.id = ${value("session")}`)}
  )`,
  select: sql`select to_jsonb(count(*)) from locked`,
}));

/** Tells of each run of the session what was put aside. */
export const TELL = kept("tell", SESSION_NOW, (value) => ({
  parts: telling(value("session"), value("at")),
  owes: ["comparisons", "ends"],
  select: sql`select to_jsonb(count(*)) from told`,
}));

/** Sums up the cells of the session's tasks. */
export const SUM_UP_SESSION = kept(
  "sum_up_session",
  SESSION_NOW,
  (value) =>
    sumUp(
      sql`select distinct r.agent_id, r.task_id from ${runs} r where ${isCountedOf(value("session"))}`,
      value("at"),
    ),
  "in sets",
);

/**
 * Sums up the boards that its runs stand on, those of canaries, too: they were asked like the others, and are all of a
 * domain where what else there was is cancelled. None of them changes a score.
 */
export const RESCORE_SESSION = kept(
  "rescore_session",
  SESSION_NOW,
  (value) =>
    rescore(
      sql`select r.agent_id, d.domain,
          coalesce(max(max(r.id::text) filter (where r.counted)) over (), max(r.id::text)) as run_id
        from ${runs} r join ${tasks} t on t.id = r.task_id cross join lateral (values ('all'), (t.domain)) d (domain)
        where r.screening_session_id = ${value("session")} and (r.counted or r.canary) group by 1, 2`,
      value("at"),
    ),
  "in sets",
);

/**
 * Gives back the allowance of the canaries that this transaction told of, whose rows bear its id. It comes last: all that an
 * owner starts and ends waits for the row of the allowance from then until the transaction's end.
 */
export const GIVE_BACK_CANARIES = kept("give_back_canaries", SESSION, (value) => {
  const canaries = sql`select r.paid_kind, r.paid_owner, r.paid_period from ${runs} r
    where r.screening_session_id = ${value("session")} and r.canary and r.xmin = pg_current_xact_id()::xid`;
  return { parts: sql`with refunded as (${giveBackAllowance(canaries)})`, select: sql`null::jsonb` };
});

/** Settles a session. */
export const SETTLE = inSeries("settle", [LOCK_SCREENED, TELL, SUM_UP_SESSION, RESCORE_SESSION, GIVE_BACK_CANARIES]);

/** SQL: whether the run row `r` is one of the session's that count. */
function isCountedOf(session: SQL): SQL {
  return sql`r.screening_session_id = ${session} and r.counted`;
}

/** SQL: tells of each run of the session what was put aside, in the part `told`. */
function telling(session: SQL, at: SQL): SQL {
  const [signed, unsigned] = [true, false].map((isSigned) => JSON.stringify(toFacts([signing(isSigned)])));
  return sql`with released as (
    ${releaseResults(session)}
  ), told as (
    update ${runs} r set canary = h.is_canary, evidence_signed = h.jws is not null, counted = h.jws is not null
    from released h where r.id = h.run_id and r.canary is null returning r.*
  ), proof as (
    insert into ${run_evidence} (run_id, jws, kid)
    select h.run_id, h.jws, h.kid from released h where h.jws is not null returning jws
  ), said as (
    ${logged(sql`select ${logEntry("run", { sha256: sha256Hex(sql`p.jws`) })} from proof p`)}
  ), verified as (
    ${markVerified(sql`select r.agent_id from told r where ${VERIFIES}`)}
  ), facts as (
    ${appendFacts(sql`select id, case when evidence_signed then ${signed}::jsonb else ${unsigned}::jsonb end as facts from told`, at)}
  ), comparisons as (
    ${oweComparisons(sql`select distinct r.screening_session_id as id, r.agent_id from told r`)}
  ), ends as (
    ${oweEvents(sessionEvents(sql`select screening_session_id from told`), at)}
  )`;
}

const Forgotten = z.object({ ids: z.array(z.uuid()), next: z.uuid().nullable() });

/**
 * Settles sessions whose message was lost for good: the first 5 of the next 500 after the one that `cursor` names. One that
 * fails does not hold up the others.
 */
export async function settleForgotten(ctx: Context, cursor: string | null): Promise<Piece> {
  const after = sql`coalesce(${cursor}::uuid, ${FIRST})`;
  // As values, and not as `exists`, so that each session's runs are asked by index: all might be gathered to join them.
  const forgotten = await read(
    ctx,
    Forgotten,
    sql`with recursive ${steppingOver("held", runs.screening_session_id, sql`x.canary is null`, after, LOOKED_AT)},
      forgotten as materialized (
        select s.id from held s where s.id is not null
          and (select true from ${runs} o where o.screening_session_id = s.id and ${isOpenRun(sql`o.status`)} limit 1) is null
          and (select true from ${runs} r join ${held_results} h on h.run_id = r.id
            where r.screening_session_id = s.id and r.canary is null limit 1)
        order by s.id limit ${SIZE}
      )
      select jsonb_build_object('ids', (select coalesce(jsonb_agg(id), '[]') from forgotten), 'next', coalesce(
        (select id from forgotten order by id offset ${SIZE - 1}), (select id from held where n = ${LOOKED_AT}))) as result`,
  );
  let failure: unknown;
  for (const id of forgotten?.ids ?? []) {
    try {
      await settle(ctx, id);
    } catch (error) {
      failure = error;
      ctx.log.error("session not settled", { screening_session_id: id, detail: describeError(error) });
    }
  }
  return { next: forgotten?.next ?? null, failure };
}
