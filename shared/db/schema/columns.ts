import { sql } from "drizzle-orm";
import { customType, timestamp, uuid } from "drizzle-orm/pg-core";

/** A UUIDv7 primary key that the database fills in where the statement gives none (PostgreSQL 18). */
export const id = () => uuid().primaryKey().default(sql`uuidv7()`);

/**
 * The same made of the time that `createdAt` of the row says, for what is listed by id: `uuidv7()` reads the clock when the
 * row is inserted, after waiting for locks, but the transaction's time is that of its start.
 */
export const idOfCreation = () => uuid().primaryKey().default(sql`uuidv7_at(now()::timestamptz(3), 1)`);

/** A point in time, in milliseconds as the interface shows it. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: "string" });

/** A point in time as exactly as the database's clock tells it, to order what happened by. */
export const moment = () => timestamp({ withTimezone: true, mode: "string" });

/** When the row came to be, by the database's clock. */
export const createdAt = () => instant().notNull().defaultNow();

/** Raw bytes. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });
