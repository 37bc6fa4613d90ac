import { type SQL, sql } from "drizzle-orm";
import { otlp_tokens } from "../db/schema/index.ts";
import { isCredential, newCredential } from "../platform/credential.ts";
import { sha256 } from "../platform/crypto.ts";

const PREFIX = "otlp_";
/** How much of a token is shown later: 8 of its 43 characters, which leaves 172 bits unknown. */
const SHOWN = PREFIX.length + 8;

/** A fresh receiver token. */
export function newOtlpToken(): string {
  return newCredential(PREFIX);
}

/** Whether a text can be one of our receiver tokens: form and checksum, without any look-up. */
export function isOtlpToken(token: string): boolean {
  return isCredential(PREFIX, token);
}

/** What is stored of a receiver token: its SHA-256 in lower-case hex. */
export function hashOtlpToken(token: string): string {
  return sha256(token);
}

/**
 * SQL: a part that makes `token` the one by which these agents (a query of their ids) send telemetry; the one before
 * ends. Returns its row.
 */
export function storeToken(agentIds: SQL, token: string): SQL {
  return sql`insert into ${otlp_tokens} as o (agent_id, token_hash, prefix)
    select id, ${hashOtlpToken(token)}, ${token.slice(0, SHOWN)} from (${agentIds}) target(id)
    on conflict (agent_id) do update set token_hash = excluded.token_hash, prefix = excluded.prefix,
      created_at = excluded.created_at, last_received_at = null
    returning o.*`;
}

/** SQL: a part that ends the receiver tokens of these agents (a query of their ids). */
export function deleteTokens(agentIds: SQL): SQL {
  return sql`delete from ${otlp_tokens} o where o.agent_id in (${agentIds})`;
}
