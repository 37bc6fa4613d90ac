import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";

/** SQL: bytes as a parameter of type bytea; null for none. */
export function bytea(bytes: Uint8Array | null): SQL {
  return bytes === null ? sql`null::bytea` : sql`${`\\x${Buffer.from(bytes).toString("hex")}`}::bytea`;
}
