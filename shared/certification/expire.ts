import { sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { setVerifiedState } from "../agents/parts.ts";
import { write } from "../db/change.ts";
import { after, type Piece } from "../db/pieces.ts";
import { certifications } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { stateWithout } from "./state.ts";
import { oweChanges } from "./told.ts";

/** How many certifications one statement expires. */
const SIZE = 500;

/** Expires at most 500 certifications whose term has ended; their agents fall back to being verified. */
export async function expireCertifications(ctx: Context): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const due = sql`select c.id, c.agent_id from ${certifications} c where c.status = 'certified' and c.expires_at <= ${at}
    order by c.expires_at, c.id limit ${SIZE}`;
  const expired = await write(ctx, {
    lock: lockAgents(sql`select d.agent_id from (${due}) d`),
    parts: sql`with expired as (
      update ${certifications} c set status = 'expired', updated_at = ${at} from (${due}) d where c.id = d.id
      returning c.*
    ), changes as (${oweChanges(sql`select * from expired`, ctx.now())}
    ), shown as (
      ${setVerifiedState(sql`select agent_id from expired`, stateWithout(sql`select id from expired`, ctx.now()))}
    )`,
    owes: ["changes"],
    select: sql`select to_jsonb(count(*)) as result from expired`,
    result: z.int(),
  });
  const count = expired ?? 0;
  if (count > 0) ctx.cache.invalidate("board");
  return after(count, SIZE);
}
