import { bigint, index, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";

/** The passkeys by which an account can be signed in to: WebAuthn's credentials, of which only the public half is here. */
export const passkeys = lazyTable(
  "passkeys",
  () => ({
    id: id(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** As the authenticator names it, in base64url. */
    credential_id: text().notNull(),
    /** As COSE (RFC 9052) writes it, in base64url. */
    public_key: text().notNull(),
    /** How often the authenticator says it was used; one that does not count says 0 for ever. */
    counter: bigint({ mode: "number" }).notNull(),
    last_used_at: instant(),
    created_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("passkeys_credential_key").on(table.credential_id),
    index("passkeys_user_idx").on(table.user_id),
  ],
);
