import { index, integer, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id } from "./columns.ts";
import { users } from "./identity.ts";

/** Answers to the product survey; a dismissal has no score. */
export const survey_responses = lazyTable(
  "survey_responses",
  () => ({
    id: id(),
    user_id: uuid().references(() => users.id, { onDelete: "cascade" }),
    score: integer(),
    disappointment: text({ enum: ["very", "somewhat", "not"] }),
    comment: text(),
    created_at: createdAt(),
  }),
  (table) => [
    index("survey_responses_created_idx").on(table.created_at),
    index("survey_responses_user_idx").on(table.user_id),
  ],
);
