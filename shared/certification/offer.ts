import type { Env } from "../platform/env.ts";
import { Problem } from "../platform/problem.ts";

/** Whether certifications are on offer: both their own flag and that of the secret suites, which they use, are on. */
export function isOffered({ FLAGS }: Pick<Env, "FLAGS">): boolean {
  return FLAGS.has("certify") && FLAGS.has("secret_suites");
}

/** Throws 503 `certify_disabled` while certifications are not on offer. */
export function requireOffer(env: Pick<Env, "FLAGS">): void {
  if (isOffered(env)) return;
  const what = env.FLAGS.has("certify")
    ? "A certification uses the secret suites, which are switched off at the moment"
    : "Certification is switched off at the moment";
  throw new Problem("certify_disabled", `${what}; nothing was bought. Try again later.`);
}
