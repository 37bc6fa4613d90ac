import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { daily_work } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { DAILY_ITEMS } from "./items.ts";
import { oweTurns } from "./message.ts";

/**
 * Owes the queue one message for each item of the daily work, so that none holds up another. An item that is still under
 * way goes on from where it is. One statement.
 */
export async function startDaily(ctx: Context): Promise<void> {
  const names = JSON.stringify(DAILY_ITEMS.map(({ name }) => name));
  await write(ctx, {
    parts: sql`with started as (
      insert into ${daily_work} as d (name, turn) select name, uuidv7() from jsonb_array_elements_text(${names}::jsonb) name
      on conflict (name) do update set turn = excluded.turn, is_faulty = d.is_faulty and d.cursor is not null
      returning name, turn
    ), messages as (${oweTurns("started")})`,
    owes: ["messages"],
    select: sql`select to_jsonb(count(*)) from started`,
    result: z.number(),
  });
}
