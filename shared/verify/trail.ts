/** What is looked at, in this order; a report names the first that fails. */
export const STEPS = {
  sources: "Keys and statement are read",
  kind: "It is something that can be checked",
  form: "It has the form of a signed statement",
  key: "The key is one that the service publishes",
  signature: "The signature is by that key, over these very bytes",
  content: "It is a credential of the key's owner, in its one form",
  subject: "It says what is claimed of it",
  term: "It is in force",
  status: "It has not been revoked",
  request: "It commits to this request",
  response: "It commits to this answer",
  proof: "It comes with a proof of its place in the log",
  checkpoint: "The log's key signed the state of the log",
  inclusion: "The log has the statement",
  consistency: "The log as it is now continues that state",
} as const;

/** The name of a step; it stays as it is, for programs. */
export type StepName = keyof typeof STEPS;

/** One step of a verification, as it was computed here. */
export interface Step {
  name: StepName;
  /** What holds once it has passed, in words. */
  title: string;
  /** What went into it, by what it is. */
  inputs: Readonly<Record<string, string>>;
  /** `skipped`: it could not be looked at, for the reason that `detail` gives; the report may be `verified` nevertheless. */
  outcome: "passed" | "failed" | "skipped";
  /** What was found, why it failed, or why it was not looked at. */
  detail: string;
  /** Whether it failed only since something could not be read for now, which says nothing against what is verified. */
  unread: boolean;
}

/** What a verification found. */
export interface Report {
  /** Whether a signature was verified, and no step failed; a text that was only recognised is not. */
  verified: boolean;
  /** The step that failed, at which the verification ends; null where none did, verified or not. */
  failed: StepName | null;
  steps: readonly Step[];
  /** What was signed, once its signature holds; else null. */
  statement: Statement | null;
  /** Its place in the log, once that is proven; else null. */
  index: number | null;
}

/** A credential whose signature holds. */
export interface Statement {
  id: string;
  type: readonly string[];
  issuer: string;
  validFrom: string;
  validUntil: string | null;
  credentialSubject: Readonly<Record<string, unknown>>;
  credentialStatus: Readonly<Record<string, unknown>> | null;
}

/** Why a step does not pass. */
export class Refused extends Error {}

/** What a step takes could not be read for now: there is no connection, or the service is away, or limits its caller. */
export class Unread extends Error {}

/** Ends the verification at a step that failed. */
class Ended extends Error {}

/** The steps that verify: all others only read, or go by what one of these has shown to be signed. */
const VERIFYING: ReadonlySet<StepName> = new Set(["signature", "checkpoint"]);

/** The steps that were gone so far. */
export class Trail {
  readonly steps: Step[] = [];
  statement: Statement | null = null;
  index: number | null = null;

  /** Goes a step: `work` may add to `inputs`, and returns what was found and what the next steps need. */
  async go<T>(
    name: StepName,
    inputs: Record<string, string>,
    work: () => Promise<readonly [detail: string, found: T]>,
  ): Promise<T> {
    try {
      const [detail, found] = await work();
      this.#add(name, inputs, "passed", detail);
      return found;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#add(name, inputs, "failed", detail, error instanceof Unread);
      throw new Ended();
    }
  }

  /** Notes that a step can't be gone, and why. */
  skip(name: StepName, detail: string): void {
    this.#add(name, {}, "skipped", detail);
  }

  #add(name: StepName, inputs: Record<string, string>, outcome: Step["outcome"], detail: string, unread = false): void {
    this.steps.push({ name, title: STEPS[name], inputs, outcome, detail, unread });
  }
}

/** The report of a verification. Whatever it meets, it ends in a report. */
export async function reportOf(walk: (trail: Trail) => Promise<void>): Promise<Report> {
  const trail = new Trail();
  await walk(trail).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  const failed = trail.steps.find(({ outcome }) => outcome === "failed")?.name ?? null;
  const passed = trail.steps.some(({ name, outcome }) => outcome === "passed" && VERIFYING.has(name));
  const verified = failed === null && passed;
  return { verified, failed, steps: trail.steps, statement: trail.statement, index: trail.index };
}
