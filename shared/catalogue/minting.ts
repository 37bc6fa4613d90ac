import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { service_secrets } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { decrypt, encrypt, type Keyring } from "../platform/encryption.ts";
import { mintSuite, secretSuites } from "../suites/secret/index.ts";

/** The name of the minting secret in `service_secrets`, and what its ciphertext is bound to. */
export const MINTING = "minting";

/** The secret suites of a database: their versions, and the prompts of their active tasks, both by slug. */
export const Present = z.object({
  versions: z.record(z.string(), z.int()),
  prompts: z.record(z.string(), z.string()),
});

/**
 * The secret that a database without one gets, 32 bytes. Secret tasks were once minted with the encryption key: the key
 * that yields most of the tasks present is taken over, so that none of them changes. Otherwise it is random.
 */
export function firstMintingSecret(keys: Keyring, present: z.output<typeof Present>): Uint8Array {
  const found = keys.map(({ secret }) => {
    const bytes = Buffer.from(secret, "base64");
    const minted = secretSuites.flatMap((suite) => mintSuite(bytes, suite, present.versions[suite.slug] ?? 1));
    return { bytes, same: minted.filter(({ slug, prompt }) => present.prompts[slug] === prompt).length };
  });
  const [best] = found.toSorted((a, b) => b.same - a.same);
  // Some prompts are the same whatever the secret: only their input varies.
  return best !== undefined && best.same * 2 > Object.keys(present.prompts).length ? best.bytes : randomBytes(32);
}

/** A minting secret as it is stored. */
export function sealMinting(secret: Uint8Array, keys: Keyring): string {
  return encrypt(Buffer.from(secret).toString("base64"), keys, MINTING);
}

/** Undoes `sealMinting`; throws when the key is gone, and says of which secret. */
export function openMinting(sealed: string, keys: Keyring): Uint8Array {
  try {
    return Buffer.from(decrypt(sealed, keys, MINTING), "base64");
  } catch (cause) {
    throw new Error(
      "None of DATA_ENCRYPTION_KEYS opens what the secret suites are minted from: give the keys that the service has, and those " +
        "that it had when the database was last seeded.",
      { cause },
    );
  }
}

/**
 * The secret that the secret suites are minted with, from `sealed` as the caller has read it. A database that has none
 * yet, because an older release seeded it last, gets its first one now, the same for all who ask at once.
 */
export async function mintingSecret(ctx: Context, sealed: string | null): Promise<Uint8Array> {
  const keys = ctx.env.DATA_ENCRYPTION_KEYS;
  if (sealed !== null) return openMinting(sealed, keys);
  const present = await read(ctx, Present, sql.raw(PRESENT));
  const first = sealMinting(firstMintingSecret(keys, present ?? { versions: {}, prompts: {} }), keys);
  const kept = await write(ctx, {
    parts: sql`with kept as (
      insert into ${service_secrets} as s (name, sealed) values (${MINTING}, ${first})
      on conflict (name) do update set sealed = s.sealed returning s.sealed
    )`,
    select: sql`select to_jsonb(sealed) as result from kept`,
    result: z.string(),
  });
  return openMinting(kept ?? first, keys);
}

/** SQL: `Present` as JSON in the column `result`. */
export const PRESENT = `select jsonb_build_object(
  'versions', (select coalesce(jsonb_object_agg(slug, version), '{}') from suites where is_secret),
  'prompts', (select coalesce(jsonb_object_agg(slug, prompt), '{}') from tasks
    where is_active and is_secret and slug is not null)) as result`;
