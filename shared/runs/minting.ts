import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { openSecret, usableSecret } from "../epochs/secret.ts";
import type { Keyring } from "../platform/encryption.ts";
import { samples, templatesBySample } from "../templates/index.ts";
import { instanceCommitment, instanceSalt, mintInstance, requestSalt } from "../templates/mint.ts";
import type { Instance } from "../templates/types.ts";

/** What a minted run is drawn from, as statements read it. */
export const Drawn = z.object({
  /** The slug of the task, which is its template's sample. */
  sample: z.string(),
  version: z.int(),
  epoch: z.string(),
  /** The encrypted secret; null while the epoch has none that the log was told of in time. */
  sealed: z.string().nullable(),
});
export type Drawn = z.output<typeof Drawn>;

/** What one run is asked, and what commits to it. */
export interface Minted {
  epoch: string;
  instance: Instance;
  /** SHA-256 over salt and instance, in hex. */
  commitment: string;
  /** The salt of the commitment to the request, so that who has the epoch's secret can open that too. */
  requestSalt: Uint8Array;
}

const SAMPLES = JSON.stringify(samples);

/** SQL: the version of the template of the task `t`; null for a task that is not minted. */
export const templateVersion: SQL = sql`(${SAMPLES}::jsonb -> t.slug ->> 'version')::integer`;

/** SQL: a `Drawn` of the run `r` and its task `t`; null for a run that is not minted. */
export const drawn: SQL = sql`case when r.epoch is not null then jsonb_build_object('sample', t.slug,
  'version', r.template_version, 'epoch', r.epoch, 'sealed', ${usableSecret(sql`r.epoch`)}) end`;

/**
 * What the run is asked, the same each time; null once its template has another version. Throws where the epoch has no
 * secret that may be used, or the key to it is gone.
 */
export function mint(runId: string, { sample, version, epoch, sealed }: Drawn, keys: Keyring): Minted | null {
  const template = templatesBySample.get(sample);
  if (template?.version !== version) return null;
  if (sealed === null) throw new Error(`The log has no timely commitment to the epoch ${epoch}: nothing is minted.`);
  const secret = openSecret(sealed, keys);
  const instance = mintInstance(template, secret, runId);
  const commitment = instanceCommitment(instance, instanceSalt(secret, runId));
  return { epoch, instance, commitment, requestSalt: requestSalt(secret, runId) };
}

/** What a run that is under way is asked; null for a run that is not minted. Throws as `mint`, and for an old template. */
export function mintNow(runId: string, source: Drawn | null, keys: Keyring): Minted | null {
  if (source === null) return null;
  const minted = mint(runId, source, keys);
  if (minted === null) throw new Error(`The template of ${source.sample} has no version ${source.version} any more.`);
  return minted;
}
