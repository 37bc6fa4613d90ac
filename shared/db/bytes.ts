import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";

/** SQL: bytes as a parameter of type bytea; null for none. */
export function bytea(bytes: Uint8Array | null): SQL {
  return bytes === null ? sql`null::bytea` : sql`${byteaText(bytes)}::bytea`;
}

/** Bytes in the text form of bytea, in hex. */
export function byteaText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return `\\x${Buffer.from(buffer, byteOffset, byteLength).toString("hex")}`;
}
