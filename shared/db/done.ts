import { type SQL, sql } from "drizzle-orm";
import { outbox } from "./schema/index.ts";
import type { Context } from "../platform/context.ts";

/**
 * Takes out of the outbox what is owed until it is done: the messages to this consumer for which `condition` holds over the
 * row `o`. One statement.
 */
export async function done(ctx: Context, consumer: string, condition: SQL): Promise<void> {
  await ctx.db.execute(sql`delete from ${outbox} o where o.consumer = ${consumer} and ${condition}`);
}
