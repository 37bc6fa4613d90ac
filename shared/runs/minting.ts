import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { screening_sessions } from "../db/schema/index.ts";
import { openSecret, usableSecret } from "../epochs/secret.ts";
import type { Keyring } from "../platform/encryption.ts";
import { createRecent } from "../platform/recent.ts";
import { family, mintableOf, templateOf } from "../suites/minted.ts";
import { instanceCommitment, instanceSalt, isCanary, mintInstance, requestSalt } from "../templates/mint.ts";
import type { Instance } from "../templates/types.ts";

/** What a minted run is drawn from, as statements read it. */
export const Drawn = z.object({
  /** What the template is found by. */
  family: z.string(),
  /** Whether the task is secret: then the epoch is a sealed one. */
  is_secret: z.boolean(),
  version: z.int(),
  epoch: z.string(),
  /** The encrypted secret; null while the epoch has none that the log was told of in time. */
  sealed: z.string().nullable(),
  /** Its place in a session that may have canaries, with the encrypted secret that says which; null once that is told. */
  place: z.object({ session_id: z.string(), number: z.int(), sealed: z.string().nullable() }).nullable(),
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
  /** Whether it is asked the sample of its task instead of the instance, and judged by that. */
  isCanary: boolean;
}

/** SQL: the version of the template of the task `t`; null for a task that is not minted. */
export const templateVersion: SQL = sql`(${templateOf} ->> 'version')::integer`;

/** SQL: a `Drawn` of the run `r` and its task `t`; null for a run that is not minted. */
export const drawn: SQL = sql`case when r.epoch is not null then jsonb_build_object('family', ${family},
  'is_secret', t.is_secret, 'version', r.template_version, 'epoch', r.epoch,
  'sealed', ${usableSecret(sql`case when t.is_secret then 'sealed' else 'open' end`, sql`r.epoch`)},
  'place', case when r.canary is null then jsonb_build_object('session_id', r.screening_session_id,
    'number', (r.position - 1) * r.repeat_total + r.repeat_index - 1, 'sealed', ${usableSecret(
      sql`'open'`,
      sql`(select s.epoch from ${screening_sessions} s where s.id = r.screening_session_id)`,
    )}) end) end`;

/**
 * What the run is asked, the same each time; null once its template has another version. Throws where the epoch, or that of
 * its session, has no secret that may be used, or the key to it is gone.
 */
export function mint(runId: string, source: Drawn, keys: Keyring): Minted | null {
  const { version, epoch, sealed, place } = source;
  const template = mintableOf(source.family, source.is_secret);
  if (template?.version !== version) return null;
  if (sealed === null || place?.sealed === null)
    throw new Error(`The log has no timely commitment to the epoch ${epoch}, or to its session's: nothing is minted.`);
  const secret = openSecret(sealed, keys);
  const instance = mintInstance(template, secret, runId);
  const commitment = instanceCommitment(instance, instanceSalt(secret, runId));
  return {
    epoch,
    instance,
    commitment,
    requestSalt: requestSalt(secret, runId),
    isCanary: place !== null && isCanary(openSecret(place.sealed, keys), place.session_id, place.number),
  };
}

/** How many instances are remembered: those of the runs that an isolate has under way, or is about to score. */
const MOST_MINTED = 64;
const minted = createRecent<Keyring, Minted>(MOST_MINTED);

/**
 * What a run that is under way is asked, which nobody may write to; null for a run that is not minted. Throws as `mint`, and
 * for an old template. The last ones are remembered along with the keys: a run is mostly scored by the isolate that took it
 * up, a moment later, and a group of runs that are all minted anew would keep the answers to others waiting.
 */
export function mintNow(runId: string, source: Drawn | null, keys: Keyring): Minted | null {
  if (source === null) return null;
  return minted.get(keys, JSON.stringify([runId, source]), () => {
    const made = mint(runId, source, keys);
    if (made === null) throw new Error(`The template ${source.family} has no version ${source.version} any more.`);
    return made;
  });
}
