import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { ofAccount } from "../../db/closing.ts";
import { UNLIMITED } from "../../db/listing.ts";
import { agents, purchases, run_days, team_members, users, webhooks } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { keysAround } from "../api-keys/of-account.ts";
import { DeletionPreview } from "../shown.ts";

const Row = DeletionPreview.omit({ email_sha256: true }).extend({ email: z.string() });

/** How much of everything is deleted with the account: counts, and nothing of what is counted. */
export async function previewDeletion(ctx: Context, userId: string): Promise<z.output<typeof DeletionPreview>> {
  const row = await read(
    ctx,
    Row,
    sql`with own as (${ownAgents(userId)})
    select jsonb_build_object(
      'agents', (select count(*) from own),
      'runs', (select coalesce(sum(d.runs), 0) from own cross join lateral (
        select d.runs from ${run_days} d where d.agent_id = own.id order by d.day ${UNLIMITED}) d),
      'api_keys', (select count(*) from (${keysAround(userId)}) k),
      'webhook_subscriptions', (select count(*) from (${ownWebhooks(userId)}) w),
      'workspaces_owned', (select count(*) from ${team_members} m where m.user_id = ${userId}::uuid and m.role = 'owner'),
      'purchases', (select count(*) from ${purchases} p where p.buyer_id = ${userId}::uuid),
      'email', u.email, 'has_password', u.password_hash is not null,
      'deletion_pending', u.deletion_scheduled_for is not null) as result
    from ${users} u where u.id = ${userId}::uuid`,
  );
  if (row === null) throw new Problem("unauthenticated", "This account does not exist any more.");
  const { email, ...preview } = row;
  return { ...preview, email_sha256: sha256(email) };
}

/** SQL: the ids of an account's agents and of those of its workspaces. */
function ownAgents(userId: string): SQL {
  return ofAccount(
    userId,
    (owner) => sql`select a.id from ${agents} a where coalesce(a.team_id, a.user_id) = ${owner}
      order by a.is_active, a.created_at desc, a.id desc ${UNLIMITED}`,
  );
}

/** SQL: the ids of an account's subscriptions and of those of its workspaces. */
function ownWebhooks(userId: string): SQL {
  return ofAccount(
    userId,
    (owner) => sql`select w.id from ${webhooks} w where coalesce(w.team_id, w.user_id) = ${owner}
      order by w.created_at desc, w.id desc ${UNLIMITED}`,
  );
}
