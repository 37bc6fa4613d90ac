import { openSecret } from "../epochs/secret.ts";
import type { Keyring } from "../platform/encryption.ts";
import { createRecent } from "../platform/recent.ts";
import { mintableOf } from "../suites/minted.ts";
import { instanceCommitment, instanceSalt, isCanary, mintInstance, requestSalt } from "../templates/mint.ts";
import type { Instance } from "../templates/types.ts";
import type { Drawn } from "./minting.ts";

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

/**
 * How many instances, of a few kilobytes each, are remembered: those of the runs that an isolate has under way, and of the
 * many more that wait to be scored where that is busier than the calls.
 */
const MOST_MINTED = 256;
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
