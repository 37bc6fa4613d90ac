import { index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";

/**
 * What was used of a limit: monthly runs of an account or workspace, daily trials of an address and of all, mails about
 * leads of an address and of all, daily invitations to an email address and daily links that make it an account's, by its hash,
 * and those that an account asks for anew.
 */
export const allowances = lazyTable(
  "allowances",
  () => ({
    kind: text({
      enum: [
        "user",
        "team",
        "trial_address",
        "trial_global",
        "lead_source",
        "lead_hour",
        "lead_day",
        "invited_address",
        "claimed_address",
      ],
    }).notNull(),
    owner: text().notNull(),
    period: text().notNull(),
    used: integer().notNull(),
  }),
  (table) => [
    primaryKey({ columns: [table.kind, table.owner, table.period] }),
    index("allowances_period_idx").on(table.kind, table.period),
  ],
);
