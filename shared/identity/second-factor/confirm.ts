import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { decrypt } from "../../platform/encryption.ts";
import { endedMeanwhile, notFound } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { hashOfRecoveryCode, TOTP_SECRET, wrongCode } from "./factor.ts";
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
  if (secret === null) throw notFound("second factor to confirm");
  const plain = decrypt(secret, ctx.env.DATA_ENCRYPTION_KEYS, TOTP_SECRET);
  const step = stepOf(plain, code, ctx.now(), null);
  if (step === null) throw wrongCode();
  const codes = Array.from({ length: CODES }, newRecoveryCode);
  const hashes = sql.join(
    codes.map((one) => sql`${hashOfRecoveryCode(one)}`),
    sql`, `,
  );
  const confirmed = await write(ctx, {
    // A session that ends at this moment comes before this, and then nothing is put into force by it.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with confirmed as (
      update ${totp_factors} f set confirmed_at = ${ctx.now().toISOString()}::timestamptz, last_step = ${step},
        recovery_hashes = array[${hashes}]::text[]
      where f.user_id = ${userId}::uuid and f.confirmed_at is null and f.secret = ${secret} and ${stillHolds(principal)}
      returning f.user_id
    ), mailed as (${signInChanged("totp_added", sql`select user_id, '' as title from confirmed`)})`,
    owes: ["mailed"],
    select: sql`select to_jsonb(true) as result from confirmed`,
    result: z.literal(true),
  });
  if (confirmed === null) throw endedMeanwhile();
  return { recovery_codes: codes };
}

/** 80 random bits in four groups of four letters and digits, as people can copy them by hand. */
function newRecoveryCode(): string {
  return (randomBase32(CODE_BYTES).toLowerCase().match(/.{4}/g) ?? []).join("-");
}
