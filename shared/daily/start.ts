import { sql } from "drizzle-orm";
import { daily_work } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { DAILY_ITEMS } from "./items.ts";
import { oweTurns } from "./message.ts";

/**
 * Owes the queue one message for each item of the daily work: so none can hold another up. An item that is under way
 * still goes on where it stands. One statement.
 */
export async function startDaily(ctx: Context): Promise<void> {
  const names = JSON.stringify(DAILY_ITEMS.map(({ name }) => name));
  const messages = await readJson<Message[]>(
    ctx,
    sql`with started as (
      insert into ${daily_work} as d (name, turn) select name, uuidv7() from jsonb_array_elements_text(${names}::jsonb) name
      on conflict (name) do update set turn = excluded.turn, is_faulty = d.is_faulty and d.cursor is not null
      returning name, turn
    ), messages as (${oweTurns("started")}) select ${owed("messages")} as result`,
  );
  await flush(ctx, messages ?? []);
}
