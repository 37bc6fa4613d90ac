import { sql } from "drizzle-orm";
import * as z from "zod";
import { markManifestChecked, setRegistryStatus } from "../agents/parts.ts";
import { agents } from "../db/schema/index.ts";
import { after, type Piece } from "../db/pieces.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { oweAnew, owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { look } from "./discover.ts";

/** Younger looks are not repeated, in hours: less than a day, so that one late by minutes does not skip the next. */
const FRESH_HOURS = 20;
/** Agents that one statement takes. */
const SIZE = 500;

/** The message that has one agent's manifest looked at. */
export const RecheckMessage = z.strictObject({ agent_id: z.uuid() });

/**
 * Owes the queue one message for every registered or stale agent whose manifest was last looked at over 20 hours ago, at
 * most 500. They are marked in the statement that owes their messages.
 */
export async function scheduleRechecks(ctx: Context): Promise<Piece> {
  const messages = await takePiece(ctx);
  ctx.defer(() => flush(ctx, messages));
  return after(messages.length, SIZE);
}

async function takePiece(ctx: Context): Promise<Message[]> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const messages = await readJson<Message[]>(
    ctx,
    sql`with due as (
      select a.id from ${agents} a where a.is_active and a.registry_status <> 'unregistered'
        and (a.manifest_checked_at is null or a.manifest_checked_at < ${at} - ${FRESH_HOURS}::integer * interval '1 hour')
      order by a.manifest_checked_at nulls first limit ${SIZE} for update skip locked
    ), marked as (
      ${markManifestChecked(sql`select id from due`, at)}
    ), rechecks as (${oweAnew(
      "recheck",
      sql`select id, floor(extract(epoch from ${at}) / 86400)::integer as generation,
        jsonb_build_object('agent_id', id) as body, null as flow_key, null::timestamptz as not_before from marked`,
    )})
    select ${owed("rechecks")} as result`,
  );
  return messages ?? [];
}

interface Registration {
  manifest_url: string;
  endpoint: string | null;
}

/**
 * Looks at the manifest of a registered or stale agent again: the agent is registered while its manifest is valid and
 * names its endpoint, else stale. An agent that was changed meanwhile keeps its status, as any does when our own resolver
 * fails: then this throws `ResolverFault`.
 */
export async function recheck(ctx: Context, agentId: string): Promise<void> {
  const registration = await readJson<Registration>(
    ctx,
    sql`select jsonb_build_object('manifest_url', a.manifest_url, 'endpoint', a.endpoint) as result from ${agents} a
      where a.id = ${agentId}::uuid and a.is_active and a.registry_status <> 'unregistered' and a.manifest_url is not null`,
  );
  if (registration === null) return;
  const { manifest_url, endpoint } = registration;
  const { manifest } = await look(ctx, manifest_url);
  const status = manifest !== null && manifest.endpoint === endpoint ? "registered" : "stale";
  await ctx.db.execute(setRegistryStatus(agentId, status, registration));
}
