import { sql } from "drizzle-orm";
import { after, type Piece } from "../db/pieces.ts";
import { certifications } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { lockAgents } from "../agents/lock.ts";
import { setVerifiedState } from "../agents/parts.ts";
import { stateWithout } from "./state.ts";

/** Certifications that one statement ends. */
const SIZE = 500;

/** Ends at most 500 certifications whose time is over; their agents are verified again. */
export async function expireCertifications(ctx: Context): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const due = sql`select c.id, c.agent_id from ${certifications} c where c.status = 'certified' and c.expires_at <= ${at}
    order by c.expires_at, c.id limit ${SIZE}`;
  const ctes = sql`with expired as (
    update ${certifications} c set status = 'expired', updated_at = ${at} from (${due}) d where c.id = d.id
    returning c.id, c.agent_id
  ), shown as (
    ${setVerifiedState(sql`select agent_id from expired`, stateWithout(sql`select id from expired`, ctx.now()))}
  )`;
  const lock = lockAgents(sql`select d.agent_id from (${due}) d`);
  const count = sql`select to_jsonb(count(*)) as result from expired`;
  const ended = await writeJson<number>(ctx, ctes, count, lock);
  if (ended > 0) ctx.cache.invalidate("board");
  return after(ended, SIZE);
}
