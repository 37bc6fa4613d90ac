import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { owe } from "../db/owed.ts";

/** The message that makes an item of the daily work take its next turn. */
export const DailyMessage = z.strictObject({ name: z.string(), turn: z.uuid() });
export type DailyMessage = z.output<typeof DailyMessage>;

/** SQL: a part of a statement that owes the queue a message for each row (`name`, `turn`) of the part `source`. */
export function oweTurns(source: string): SQL {
  return owe(
    "daily",
    sql`turn`,
    sql`jsonb_build_object('name', name, 'turn', turn)`,
    sql`from ${sql.identifier(source)}`,
  );
}
