import { index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, id } from "./columns.ts";
import { users } from "./identity.ts";

/** Answers to the product survey; a dismissal has no score. */
export const survey_responses = pgTable(
  "survey_responses",
  {
    id: id(),
    user_id: uuid().references(() => users.id, { onDelete: "cascade" }),
    score: integer(),
    disappointment: text({ enum: ["very", "somewhat", "not"] }),
    comment: text(),
    created_at: createdAt(),
  },
  (table) => [
    index("survey_responses_created_idx").on(table.created_at),
    index("survey_responses_user_idx").on(table.user_id),
  ],
);
