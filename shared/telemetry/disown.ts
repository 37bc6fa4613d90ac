import { sql } from "drizzle-orm";
import { agents, otlp_tokens } from "../db/schema/index.ts";
import type { DisownInDomain } from "../identity/passwords/disown.ts";

/** Deletes the receiver tokens of the accounts' agents. */
export const disownReceivers: DisownInDomain = ({ owns }) => sql`
  delete from ${otlp_tokens} o using ${agents} a, claimed c where o.agent_id = a.id and not c.proven and ${owns}`;
