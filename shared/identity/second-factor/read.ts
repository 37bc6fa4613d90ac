import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { endedMeanwhile } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";
import { TotpRead } from "./schemas.ts";

/** Whether the caller's account has a second factor in force, and how many recovery codes are left. */
export async function readTotp(ctx: Context, { userId }: SessionPrincipal): Promise<z.output<typeof TotpRead>> {
  const state = await read(
    ctx,
    TotpRead,
    sql`select jsonb_build_object('active', f.confirmed_at is not null, 'confirmed_at', f.confirmed_at,
        'recovery_codes_left', coalesce(cardinality(f.recovery_hashes), 0)) as result
      from ${users} u left join ${totp_factors} f on f.user_id = u.id where u.id = ${userId}::uuid`,
  );
  if (state === null) throw endedMeanwhile();
  return state;
}
