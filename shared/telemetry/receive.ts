import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { agents, otlp_tokens, runs, spans } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { MAX_SPANS } from "./collect.ts";
import { noteRefusedSpans } from "./refused-spans.ts";
import { normalise, type SentSpan, type Span } from "./span.ts";

/** How many spans of runs one request may bring. */
const MAX_SPANS_OF_REQUEST = 10_000;

/** Days after the end of a run for which its spans are still taken. */
const LATE_DAYS = 1;

/** What became of an export: how many spans were refused, and why; an empty reason where none was. */
export interface Receipt {
  rejected: number;
  reason: string;
}

/**
 * Keeps the spans of an export that belong to real runs of the token's agent, in one statement. Spans of other traces
 * are dropped silently: an exporter sends everything that its application does. A span that was kept before stays
 * unchanged. Returns null for a token that is not in use.
 */
export async function receiveSpans(
  ctx: Context,
  tokenHash: string,
  sent: readonly SentSpan[],
): Promise<Receipt | null> {
  const wellFormed = sent.map(normalise).filter((span) => span !== null);
  const malformed = sent.length - wellFormed.length;
  const ofRuns = wellFormed.filter(({ run_id }) => isRunId(run_id));
  const distinct = new Map(ofRuns.map((span) => [span.run_id + span.span_id, span]));
  const taken = [...distinct.values()].slice(0, MAX_SPANS_OF_REQUEST);
  const beyond = await storeOrNote(ctx, tokenHash, taken);
  if (beyond === null) return null;
  const refused: [count: number, why: string][] = [
    [malformed, "malformed: ids are 16 and 8 bytes, not zeros; times are positive, the end not before the start"],
    [distinct.size - taken.length, `beyond the ${MAX_SPANS_OF_REQUEST} of one request`],
    [beyond, `beyond the ${MAX_SPANS} that are kept of one run`],
  ];
  const reasons = refused.filter(([count]) => count > 0);
  return {
    rejected: reasons.reduce((sum, [count]) => sum + count, 0),
    reason: reasons.map(([count, why]) => `${count} ${why}`).join("; "),
  };
}

/** Whether a trace id can be a run's: a run's id is a UUID of version 7, which a random trace id seldom looks like. */
function isRunId(traceId: string): boolean {
  return /^.{12}7.{3}[89ab]/.test(traceId);
}

async function storeOrNote(ctx: Context, tokenHash: string, taken: readonly Span[]): Promise<number | null> {
  try {
    return await store(ctx, tokenHash, taken);
  } catch (error) {
    await noteRefusedSpans(ctx, new Set(taken.map(({ run_id }) => run_id)), error);
    throw error;
  }
}

/**
 * Writes spans and notes when the token was last used; returns how many were refused as too many for their run, or null
 * for a token that is not in use. The agent's row is locked first and then the token's, in the order in which an agent is
 * deleted, so that an export counts what earlier exports of the agent have kept.
 */
async function store(ctx: Context, tokenHash: string, taken: readonly Span[]): Promise<number | null> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const lock = sql`with agent as (
      select id from ${agents} where id = (select agent_id from ${otlp_tokens} where token_hash = ${tokenHash})
      for key share
    ) select from ${otlp_tokens} where agent_id = (select id from agent) for update`;
  // Materialized, so that what a run had is counted once and not again for each of its spans.
  const parts = sql`with token as (
      update ${otlp_tokens} set last_received_at = ${now} where token_hash = ${tokenHash} returning agent_id
    ), own as materialized (
      select r.id, r.agent_id, (select count(*) from ${spans} k where k.run_id = r.id) as had
      from token t join ${runs} r on r.agent_id = t.agent_id
      where r.id = any(${list(new Set(taken.map(({ run_id }) => run_id)))}::uuid[]) and not r.simulated
        and coalesce(r.finalized_at > ${now} - make_interval(days => ${LATE_DAYS}), true)
    ), fresh as (
      select s.*, o.agent_id,
        row_number() over (partition by s.run_id order by s.place) + o.had > ${MAX_SPANS} as beyond
      from ${unnest(COLUMNS, taken)} join own o on o.id = s.run_id where o.had = 0
        or (select count(*) from ${spans} k where k.run_id = s.run_id and k.span_id = s.span_id) = 0
    ), kept as (
      insert into ${spans} (run_id, span_id, parent_span_id, agent_id, kind, scope, operation, name, provider, model,
        input_tokens, output_tokens, cost_usd, failed, started_at, duration_ms, received_at)
      select run_id, span_id, parent_span_id, agent_id, kind, scope, operation, name, provider, model,
        input_tokens, output_tokens, cost_usd, failed, to_timestamp(started_at), duration_ms, ${now}
      from fresh where not beyond on conflict do nothing
    )`;
  const select = sql`select to_jsonb((select count(*) from fresh where beyond)) as result from token`;
  return write(ctx, { lock, parts, select, result: z.int() });
}

/** The columns of a span, and their types on the way into the statement. */
const COLUMNS: Record<keyof Span, SQL> = {
  run_id: sql`uuid[]`,
  span_id: sql`text[]`,
  parent_span_id: sql`text[]`,
  kind: sql`text[]`,
  scope: sql`text[]`,
  operation: sql`text[]`,
  name: sql`text[]`,
  provider: sql`text[]`,
  model: sql`text[]`,
  input_tokens: sql`integer[]`,
  output_tokens: sql`integer[]`,
  cost_usd: sql`double precision[]`,
  failed: sql`boolean[]`,
  started_at: sql`double precision[]`,
  duration_ms: sql`double precision[]`,
};

/** SQL: spans as rows, each with its place. */
function unnest<Name extends keyof Span>(columns: Readonly<Record<Name, SQL>>, rows: readonly Span[]): SQL {
  const [arrays, names]: [SQL[], Name[]] = [[], []];
  for (const name in columns) {
    arrays.push(sql`${list(rows.map((row) => row[name]))}::${columns[name]}`);
    names.push(name);
  }
  return sql`unnest(${sql.join(arrays, sql`, `)}) with ordinality as s(${sql.join(
    names.map((name) => sql.identifier(name)),
    sql`, `,
  )}, place)`;
}

/**
 * SQL: an array of text. It travels as one text with an entry on each line; null is an empty line, as no kept text is
 * empty. For thousands of entries that is a third faster than JSON.
 */
function list(values: Iterable<string | number | boolean | null>): SQL {
  return sql`string_to_array(${Array.from(values, (value) => value ?? "").join("\n")}, chr(10), '')`;
}
