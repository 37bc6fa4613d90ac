import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { encrypt } from "../../platform/encryption.ts";
import { endedMeanwhile, Problem } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { TOTP_SECRET } from "./factor.ts";
import type { TotpBegun } from "./schemas.ts";
import { otpauthUrl, randomBase32 } from "./totp.ts";

const ISSUER = "Agent Screening";

/**
 * Makes a secret for the caller's authenticator app, in place of any that was not confirmed. Nothing is asked for at sign-in
 * before `confirmTotp`. Throws `second_factor_active` where one is in force.
 */
export async function beginTotp(ctx: Context, principal: SessionPrincipal): Promise<z.output<typeof TotpBegun>> {
  const secret = randomBase32();
  const sealed = encrypt(secret, ctx.env.DATA_ENCRYPTION_KEYS, TOTP_SECRET);
  const beginning = verdict({ ended: sql`not ${stillHolds(principal)}`, active: sql`f.confirmed_at is not null` });
  const { email } = await change(ctx, {
    lock: sql`select from ${users} where id = ${principal.userId}::uuid for no key update`,
    parts: sql`with target as (
      select u.id, u.email, ${beginning.sql} as outcome
      from ${users} u left join ${totp_factors} f on f.user_id = u.id where u.id = ${principal.userId}::uuid
    ), begun as (
      insert into ${totp_factors} (user_id, secret) select id, ${sealed} from target where outcome = 'done'
      on conflict (user_id) do update set secret = excluded.secret
    )`,
    result: sql`select jsonb_build_object('outcome', outcome, 'email', email) as result from target`,
    verdict: beginning,
    done: z.object({ email: z.string() }),
    refusals: {
      not_found: endedMeanwhile,
      ended: endedMeanwhile,
      active: () =>
        new Problem("second_factor_active", "An authenticator app is asked for already; DELETE it with a code first."),
    },
  });
  return { secret, otpauth_url: otpauthUrl(secret, ISSUER, email) };
}
