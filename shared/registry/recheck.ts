import { sql } from "drizzle-orm";
import * as z from "zod";
import { markManifestChecked, setRegistryStatus } from "../agents/parts.ts";
import { read, write } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import { after, type Piece } from "../db/pieces.ts";
import type { Context } from "../platform/context.ts";
import { oweAnew } from "../db/owed.ts";
import { isWellKnown, look } from "./discover.ts";

/** A manifest is not asked for again within so many hours: less than a day, so that a late look does not skip the next. */
const FRESH_HOURS = 20;
/** Agents that one statement takes. */
const SIZE = 500;

/** The message that asks for a look at one agent's manifest. */
export const RecheckMessage = z.strictObject({ agent_id: z.uuid() });

/**
 * Owes the queue one message for every registered or stale agent whose manifest was last looked at over 20 hours ago, at
 * most 500. They are marked in the statement that owes their messages.
 */
export async function scheduleRechecks(ctx: Context): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const owed = await write(ctx, {
    parts: sql`with due as (
      select a.id from ${agents} a where a.is_active and a.registry_status <> 'unregistered'
        and (a.manifest_checked_at is null or a.manifest_checked_at < ${at} - ${FRESH_HOURS}::integer * interval '1 hour')
      order by a.manifest_checked_at nulls first limit ${SIZE} for update skip locked
    ), marked as (
      ${markManifestChecked(sql`select id from due`, at)}
    ), rechecks as (${oweAnew(
      "recheck",
      sql`select id, floor(extract(epoch from ${at}) / 86400)::integer as generation,
        jsonb_build_object('agent_id', id) as body, null as flow_key, null::timestamptz as not_before from marked`,
    )})`,
    owes: ["rechecks"],
    select: sql`select to_jsonb(count(*)) as result from rechecks`,
    result: z.int(),
  });
  return after(owed ?? 0, SIZE);
}

const Registration = z.object({ manifest_url: z.string(), endpoint: z.string().nullable() });

/**
 * Looks at the manifest of a registered or stale agent again: the agent is registered while its manifest lies where a host
 * serves its own, is valid, and names its endpoint, else stale. An agent that was changed meanwhile keeps its status. Throws
 * `ResolverFault` where our own resolver fails; then the status stays as it is, too.
 */
export async function recheck(ctx: Context, agentId: string): Promise<void> {
  const registration = await read(
    ctx,
    Registration,
    sql`select jsonb_build_object('manifest_url', a.manifest_url, 'endpoint', a.endpoint) as result from ${agents} a
      where a.id = ${agentId}::uuid and a.is_active and a.registry_status <> 'unregistered' and a.manifest_url is not null`,
  );
  if (registration === null) return;
  const { manifest_url, endpoint } = registration;
  const { manifest } = isWellKnown(manifest_url) ? await look(ctx, manifest_url) : { manifest: null };
  const status = manifest !== null && manifest.endpoint === endpoint ? "registered" : "stale";
  await ctx.db.execute(setRegistryStatus(agentId, status, registration));
}
