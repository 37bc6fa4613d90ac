import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { totp_factors } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { decrypt } from "../../platform/encryption.ts";
import { Problem } from "../../platform/problem.ts";
import { stepOf } from "./totp.ts";

/** What the ciphertexts of secrets are bound to. */
export const TOTP_SECRET = "totp";

/** A second factor in force, as the database has it. */
export const Factor = z.object({
  secret: z.string(),
  last_step: z.int().nullable(),
  recovery_hashes: z.array(z.string()),
});
export type Factor = z.output<typeof Factor>;

/** SQL: the JSON of the second factor that is in force for an account, null without one. */
export function factorJson(userId: SQL): SQL {
  return sql`(select jsonb_build_object('secret', f.secret, 'last_step', f.last_step, 'recovery_hashes', f.recovery_hashes)
    from ${totp_factors} f where f.user_id = ${userId} and f.confirmed_at is not null)`;
}

/** What a right code used up: a step of time, or a recovery code. */
export interface Proof {
  secret: string;
  step: number | null;
  recoveryHash: string | null;
}

/** A recovery code in the one form that is hashed: as it is shown, without what people put between the letters. */
export function hashOfRecoveryCode(code: string): string {
  return sha256(code.replaceAll(/[\s-]/g, "").toUpperCase());
}

/** What a code proves: one of the app, 6 digits, or a recovery code, that was not used before; null where it proves nothing. */
export function proofOf(ctx: Context, factor: Factor, code: string): Proof | null {
  const { secret, last_step, recovery_hashes } = factor;
  const digits = code.replaceAll(/\s/g, "");
  if (/^\d{6}$/.test(digits)) {
    const plain = decrypt(secret, ctx.env.DATA_ENCRYPTION_KEYS, TOTP_SECRET);
    const step = stepOf(plain, digits, ctx.now(), last_step);
    return step === null ? null : { secret, step, recoveryHash: null };
  }
  const recoveryHash = hashOfRecoveryCode(code);
  return recovery_hashes.includes(recoveryHash) ? { secret, step: null, recoveryHash } : null;
}

/**
 * SQL: whether the row `f` of second factors still takes a proof. In the condition of an update, of any number of uses of
 * one code at once one finds it true.
 */
export function stillProves({ secret, step, recoveryHash }: Proof): SQL<boolean> {
  return sql`(f.confirmed_at is not null and f.secret = ${secret} and ${
    step === null
      ? sql`${recoveryHash}::text = any (f.recovery_hashes)`
      : sql`coalesce(f.last_step, -1) < ${step}::integer`
  })`;
}

/**
 * SQL: the part `proven` of a statement (user_id): uses up a proof, with a row where it was still good. Without a proof the
 * row is there as long as no second factor is in force.
 */
export function spendProof(userId: string, proof: Proof | null): SQL {
  if (proof === null) {
    return sql`proven as (select ${userId}::uuid as user_id where not exists (
      select from ${totp_factors} f where f.user_id = ${userId}::uuid and f.confirmed_at is not null
    ))`;
  }
  return sql`proven as (
    update ${totp_factors} f set last_step = coalesce(${proof.step}::integer, f.last_step),
      recovery_hashes = array_remove(f.recovery_hashes, ${proof.recoveryHash}::text)
    where f.user_id = ${userId}::uuid and ${stillProves(proof)} returning f.user_id
  )`;
}

/** The 401 for a code that is wrong, over, or was used before. */
export function wrongCode(): Problem {
  return new Problem(
    "invalid_second_factor",
    "The code is wrong, or was used before. Wait for the app's next one, or use a recovery code.",
  );
}
