import { sql } from "drizzle-orm";
import { type AnyPgColumn, bigint, check, index, integer, primaryKey, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { bytes, createdAt } from "./columns.ts";

/**
 * What the log says, each statement once. An entry waits without a place until a checkpoint covers it; after that nothing
 * about it changes, which a trigger enforces.
 */
export const log_entries = lazyTable(
  "log_entries",
  () => ({
    /** The order in which entries wait. */
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    /** Its place in the log, from 0; null while it waits. */
    position: bigint({ mode: "number" }),
    /** RFC 8785 JSON in UTF-8. */
    entry: bytes().notNull(),
    /** The hash of its leaf (RFC 6962, section 2.1). */
    leaf_hash: bytes().notNull().generatedAlwaysAs(sql`sha256('\\x00'::bytea || entry)`),
    created_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("log_entries_leaf_key").on(table.leaf_hash),
    uniqueIndex("log_entries_position_key").on(table.position),
    index("log_entries_waiting_idx").on(table.id).where(sql`${table.position} is null`),
    // A bundle gives each entry's length in two bytes.
    check("log_entries_length", sql`octet_length(${table.entry}) between 1 and 65535`),
  ],
);

/** The log's hashes as tiles of 256; the last tile of a level grows at its end until it is full. */
export const log_tiles = lazyTable(
  "log_tiles",
  () => ({
    level: integer().notNull(),
    position: bigint({ mode: "number" }).notNull(),
    /** Up to 256 hashes of 32 bytes, one after another. */
    hashes: bytes().notNull(),
  }),
  (table) => [
    primaryKey({ columns: [table.level, table.position] }),
    check(
      "log_tiles_length",
      sql`octet_length(${table.hashes}) between 32 and 8192 and octet_length(${table.hashes}) % 32 = 0`,
    ),
  ],
);

/**
 * Every state of the log that was ever published. Each has one predecessor, which is smaller, and none has two successors,
 * so that they form one line: there are no two states of a size, and none follows another than the last.
 */
export const log_checkpoints = lazyTable(
  "log_checkpoints",
  () => ({
    /** How many entries it covers. */
    size: bigint({ mode: "number" }).primaryKey(),
    /** The size of the one before; null for the first. */
    previous_size: bigint({ mode: "number" }).references((): AnyPgColumn => log_checkpoints.size),
    root: bytes().notNull(),
    /** The roots of the perfect subtrees that make up the tree, from the largest, 32 bytes each. */
    edge: bytes().notNull(),
    created_at: createdAt(),
  }),
  (table) => [
    unique("log_checkpoints_previous_key").on(table.previous_size).nullsNotDistinct(),
    check("log_checkpoints_growth", sql`${table.size} > coalesce(${table.previous_size}, 0)`),
    check("log_checkpoints_root", sql`octet_length(${table.root}) = 32`),
  ],
);
