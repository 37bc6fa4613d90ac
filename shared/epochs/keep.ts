import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { EPOCH_KINDS, epochs, log_entries } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { leafHash, logEntry, logged } from "../transparency/logged.ts";
import { epochsFrom } from "./calendar.ts";
import { newSecret, openSecret } from "./secret.ts";
import { isMintingReady } from "./usable.ts";

/** After so many lengths of an epoch its secret is published. */
const REVEALED_AFTER = 7;

/** Secrets that one call reveals. */
const REVEALS = 500;

/** How long an epoch may take into the log before it is a cause for alarm: some triggers, and a slow log. */
const GRACE = sql`interval '5 minutes'`;

const State = z.object({
  present: z.array(z.object({ kind: z.enum(EPOCH_KINDS), name: z.string() })),
  due: z.array(z.object({ name: z.string(), sealed: z.string() })),
  /** Whether the log has taken up a commitment that is not noted yet. */
  is_taken: z.boolean(),
  is_alarming: z.boolean(),
});

/** SQL: the log's entry about the row `e` of epochs. The commitments of sealed ones say that no secret will follow. */
const entry = sql`case when e.kind = 'open'
  then ${logEntry("epoch", { epoch: sql`e.name`, commitment: sql`e.commitment` })}
  else ${logEntry("epoch", { epoch: sql`e.name`, commitment: sql`e.commitment`, sealed: sql`true` })} end`;

/** SQL: a FROM clause of the epochs `e` that are not noted to be in the log, each with its entry `l` there. */
const taken = sql`${epochs} e join ${log_entries} l on l.leaf_hash = ${leafHash(entry)}
  where e.log_index is null and l.position is not null`;

/**
 * Makes the epochs that have to be there by now and commits to them in the log, notes which commitments the log has taken
 * up, and publishes the secrets of open epochs that have been over for long enough. One statement where nothing is to do,
 * two else; however often it is called, at once or after an outage, each epoch gets one secret and each step is done once.
 * Says so in the log as an error while runs can't be minted.
 */
export async function keepEpochs(ctx: Context): Promise<void> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const wanted = epochsFrom(ctx.now(), ctx.env.EPOCH_SECONDS);
  const state = await read(ctx, State, stateOf(ctx, JSON.stringify(wanted.map(({ name }) => name)), at));
  if (state === null) return;
  if (state.is_alarming)
    ctx.log.error("no usable epoch", {
      detail: "Commitments to epochs are missing in the log; minted runs stand still.",
    });
  const present = new Set(state.present.map(({ kind, name }) => `${kind} ${name}`));
  const made = EPOCH_KINDS.flatMap((kind) => wanted.map((span) => ({ kind, ...span })))
    .filter(({ kind, name }) => !present.has(`${kind} ${name}`))
    .map((epoch) => ({ ...epoch, ...newSecret(ctx.env.DATA_ENCRYPTION_KEYS) }));
  const revealed = state.due.flatMap(({ name, sealed }) => secretOf(ctx, name, sealed));
  if (made.length > 0 || revealed.length > 0 || state.is_taken) await keep(ctx, made, revealed, at);
}

function stateOf(ctx: Context, names: string, at: SQL): SQL {
  return sql`select jsonb_build_object(
    'present', (select coalesce(jsonb_agg(jsonb_build_object('kind', e.kind, 'name', e.name)), '[]') from ${epochs} e
      where e.name in (select jsonb_array_elements_text(${names}::jsonb))),
    'due', (select coalesce(jsonb_agg(jsonb_build_object('name', d.name, 'sealed', d.sealed)), '[]') from (
      select e.name, e.sealed from ${epochs} e
      where e.kind = 'open' and e.revealed_at is null and e.log_index is not null and ${isDue(at)}
      order by e.ends_at limit ${REVEALS}) d),
    'is_taken', exists (select from ${taken}),
    'is_alarming', exists (select from ${epochs} e where e.created_at < ${at} - ${GRACE}) and not ${isMintingReady(ctx)}
  ) as result`;
}

/** SQL: whether the epoch `e` has been over for as long as its secret is kept. */
function isDue(at: SQL): SQL {
  return sql`e.ends_at <= ${at} - ${REVEALED_AFTER} * (e.ends_at - e.starts_at)`;
}

/** The secret in hex; nothing where its key is gone, which must hold nothing else up. */
function secretOf(ctx: Context, name: string, sealed: string): { name: string; secret: string }[] {
  try {
    return [{ name, secret: openSecret(sealed, ctx.env.DATA_ENCRYPTION_KEYS).toString("hex") }];
  } catch (error) {
    ctx.log.error("an epoch can't be revealed", { epoch: name, detail: describeError(error) });
    return [];
  }
}

async function keep(ctx: Context, made: readonly object[], revealed: readonly object[], at: SQL): Promise<void> {
  // The log has to have a commitment one epoch before it begins; the first two of a deployment can't keep that.
  const isTimely = sql`(${at} <= e.starts_at - (e.ends_at - e.starts_at)
    or not exists (select from ${epochs} f where f.kind = e.kind and f.starts_at < e.starts_at offset 1))`;
  await write(ctx, {
    parts: sql`with made as (
      insert into ${epochs} as e (kind, name, starts_at, ends_at, sealed, commitment, created_at)
      select kind, name, starts_at, ends_at, sealed, commitment, ${at}
      from jsonb_to_recordset(${JSON.stringify(made)}::jsonb) as m(kind text, name text, starts_at timestamptz,
        ends_at timestamptz, sealed text, commitment text)
      on conflict (kind, name) do nothing returning ${entry} as entry
    ), taken as (
      select e.kind, e.name, l.position, ${isTimely} as is_timely from ${taken}
    ), noted as (
      update ${epochs} e set log_index = t.position, committed_at = ${at}, is_timely = t.is_timely
      from taken t where e.kind = t.kind and e.name = t.name and e.log_index is null
    ), revealed as (
      update ${epochs} e set secret = m.secret, revealed_at = ${at}
      from jsonb_to_recordset(${JSON.stringify(revealed)}::jsonb) as m(name text, secret text)
      where e.kind = 'open' and e.name = m.name and e.revealed_at is null and ${isDue(at)}
      returning ${logEntry("reveal", { epoch: sql`e.name`, secret: sql`e.secret` })} as entry
    ), logged as (${logged(sql`select entry from made union all select entry from revealed`)})`,
    select: sql`select to_jsonb(count(*)) from made`,
    result: z.number(),
  });
}
