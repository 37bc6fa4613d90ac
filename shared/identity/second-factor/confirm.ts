import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, read, verdict } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { decrypt } from "../../platform/encryption.ts";
import { endedMeanwhile, notFound, Problem } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { hashOfRecoveryCode, TOTP_SECRET } from "./factor.ts";
import type { RecoveryCodes, TotpConfirm } from "./schemas.ts";
import { randomBase32, stepOf } from "./totp.ts";

/** How many recovery codes an account gets, and how much chance is in each. */
const CODES = 10;
const CODE_BYTES = 10;

/**
 * Puts the app that `beginTotp` made a secret for into force, once a code shows that it has it: from now on it is asked for
 * at sign-in, and the account is told by mail. Sessions that are open stay so. The recovery codes are returned here alone. Throws `invalid_second_factor`,
 * and 404 where there is nothing to confirm.
 */
export async function confirmTotp(
  ctx: Context,
  principal: SessionPrincipal,
  { code }: z.output<typeof TotpConfirm>,
): Promise<z.output<typeof RecoveryCodes>> {
  const { userId } = principal;
  const secret = await read(
    ctx,
    z.string(),
    sql`select to_jsonb(f.secret) as result from ${totp_factors} f
      where f.user_id = ${userId}::uuid and f.confirmed_at is null`,
  );
  if (secret === null) throw nothingToConfirm();
  const plain = decrypt(secret, ctx.env.DATA_ENCRYPTION_KEYS, TOTP_SECRET);
  const step = stepOf(plain, code, ctx.now(), null);
  if (step === null) throw notOfThisSecret();
  const codes = Array.from({ length: CODES }, newRecoveryCode);
  const hashes = sql.join(
    codes.map((one) => sql`${hashOfRecoveryCode(one)}`),
    sql`, `,
  );
  const confirming = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    // The first of two sendings did it, or the secret went with a factor that was taken away.
    settled: sql`f.confirmed_at is not null or f.user_id is null`,
    replaced: sql`f.secret <> ${secret}`,
  });
  await change(ctx, {
    // A session that ends at this moment comes before this, and then nothing is put into force by it.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select u.id, ${confirming.sql} as outcome
      from ${users} u left join ${totp_factors} f on f.user_id = u.id where u.id = ${userId}::uuid
    ), confirmed as (
      update ${totp_factors} f set confirmed_at = ${ctx.now().toISOString()}::timestamptz, last_step = ${step},
        recovery_hashes = array[${hashes}]::text[]
      from target t where f.user_id = t.id and t.outcome = 'done'
      returning f.user_id
    ), mailed as (${signInChanged("totp_added", sql`select user_id, '' as title from confirmed`)})`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: confirming,
    done: z.object({}),
    refusals: {
      not_found: endedMeanwhile,
      ended: endedMeanwhile,
      settled: nothingToConfirm,
      replaced: notOfThisSecret,
    },
  });
  return { recovery_codes: codes };
}

function nothingToConfirm(): Problem {
  return notFound("second factor to confirm");
}

/** The 401 for a code that the app does not show now, or shows for a secret that was made before the last one. */
function notOfThisSecret(): Problem {
  return new Problem(
    "invalid_second_factor",
    "The code is wrong. Give the one that the app shows now; where it is refused again, the app has an older secret or its " +
      "clock is wrong: begin again, and give the app the new secret.",
  );
}

/** 80 random bits in four groups of four letters and digits, as people can copy them by hand. */
function newRecoveryCode(): string {
  return (randomBase32(CODE_BYTES).toLowerCase().match(/.{4}/g) ?? []).join("-");
}
