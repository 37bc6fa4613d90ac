import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, primaryKey, text } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { instant } from "./columns.ts";

/** Open epochs are revealed once they are long over; sealed ones, which secret suites are minted from, never are. */
export const EPOCH_KINDS = ["open", "sealed"] as const;

/** The epochs and their secrets: made ahead, committed to in the log, and revealed afterwards if they are open. */
export const epochs = lazyTable(
  "epochs",
  () => ({
    kind: text({ enum: EPOCH_KINDS }).notNull(),
    /** What the interface calls it: its day, or its start where epochs are shorter. */
    name: text().notNull(),
    starts_at: instant().notNull(),
    ends_at: instant().notNull(),
    /** The secret of 32 bytes, encrypted. */
    sealed: text().notNull(),
    /** SHA-256 over the secret, in hex. */
    commitment: text().notNull(),
    created_at: instant().notNull(),
    /** When the commitment was found in the log, and at what place. */
    committed_at: instant(),
    log_index: bigint({ mode: "number" }),
    /** Whether that was early enough for runs to be minted from it; null until it is known. */
    is_timely: boolean(),
    /** The secret in hex, once it is public. */
    secret: text(),
    revealed_at: instant(),
  }),
  (table) => [
    primaryKey({ columns: [table.kind, table.name] }),
    index("epochs_start_idx").on(table.kind, table.starts_at.desc().nullsFirst()),
    index("epochs_waiting_idx").on(table.starts_at).where(sql`${table.log_index} is null`),
    index("epochs_unrevealed_idx")
      .on(table.ends_at)
      .where(sql`${table.kind} = 'open' and ${table.revealed_at} is null`),
    check("epochs_committed", sql`num_nulls(${table.committed_at}, ${table.log_index}, ${table.is_timely}) in (0, 3)`),
    check("epochs_revealed", sql`(${table.secret} is null) = (${table.revealed_at} is null)`),
    // Whoever has the secrets of sealed epochs and the generator has the families of the secret suites.
    check("epochs_sealed_stay", sql`${table.kind} = 'open' or ${table.secret} is null`),
    check("epochs_revealed_is_committed", sql`${table.secret} is null or ${table.log_index} is not null`),
  ],
);
