import { boolean, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { instant } from "./columns.ts";

/** How each item of the daily work stands. */
export const daily_work = lazyTable("daily_work", () => ({
  name: text().primaryKey(),
  /** The message whose turn it is, or none there is any more; any other one about this item is late and does nothing. */
  turn: uuid().notNull(),
  /** When the item was last begun, or begun anew. */
  started_at: instant().notNull().defaultNow(),
  /** Where the turn begins; null at the item's beginning. */
  cursor: text(),
  /** Whether a part of the item has failed since its beginning. */
  is_faulty: boolean().notNull().default(false),
  last_success_at: instant(),
  /** What went wrong last; null once the item has been done without fault. */
  last_error: text(),
}));
