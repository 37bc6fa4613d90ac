import { sql } from "drizzle-orm";
import { read } from "../db/change.ts";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { LoggedStatement } from "../results/evidence.ts";
import { findEntry } from "../transparency/inclusion.ts";
import { sha256Hex } from "../transparency/logged.ts";
import { credentialOf } from "./credential.ts";

/** The credential of an agent that the caller may see, with its place in the log; null if none is in force. */
export function findLoggedCredential(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<LoggedStatement | null> {
  return read(
    ctx,
    LoggedStatement,
    sql`select jsonb_build_object('jws', c.jws, 'kid', c.kid,
        'found', ${findEntry("credential", { sha256: sha256Hex(sql`c.jws`) })}) as result
      ${credentialOf(ctx, principal, agentId)}`,
  );
}
