import type { JWK } from "jose";
import { regrade as regradeStatement } from "../../../shared/runs/regrade.ts";
import { RegradeRequest, UNREGRADABLE } from "../../../shared/runs/regrading.ts";
import { fromBase64url, fromHex, hex, sha256, textOf } from "../../../shared/verify/bytes.ts";
import { at, isObject, parsed } from "../../../shared/verify/json.ts";
import { statementIn } from "../../../shared/verify/verify.ts";

/** What a run is graded again from, each as the service answers it. */
export interface RegradeGrounds {
  /** The text of `/.well-known/jwks.json`. */
  jwks: string;
  /** The text of `GET /api/v1/epochs`: a page that has the run's epoch. */
  epochs: string;
  /** The text of `GET /api/v1/runs/{run_id}/output`; null where it is not shown. */
  output: string | null;
}

/** What was found, or why nothing could be. */
export type Regrading =
  | {
      /** `agrees`: the statement says what is found now. `differs`: it does not, or secret or answer are not those that it commits to. */
      outcome: "agrees" | "differs";
      detail: string;
      /** 0 to 1, as found now; null where instance or answer are others than the statement commits to. */
      correctness: number | null;
      passed: boolean | null;
    }
  | { outcome: "impossible"; detail: string; correctness: null; passed: null };

/** The run that a statement is about and the epoch that its task was drawn in, unchecked; null where it names none. */
export function subjectOf(text: string): { runId: string | null; epoch: string | null } {
  const [, payload = ""] = (statementIn(text) ?? "").split(".");
  const statement = payloadOf(payload);
  const [runId, epoch] = [at(statement, "credentialSubject.run.id"), at(statement, "credentialSubject.instance.epoch")];
  return { runId: typeof runId === "string" ? runId : null, epoch: typeof epoch === "string" ? epoch : null };
}

/**
 * Grades the recorded answer of a run again, right here, by the service's own rules: checks the signature, draws the task's
 * instance from the secret of its epoch, opens the statement's commitments to instance and answer, and grades. `text` is what
 * `verify` takes. Asks nobody, and never throws for what it is given. That the log has the commitment to the secret is for
 * whoever follows the log to see.
 * @example
 * const { outcome, detail } = await regrade(jws, { jwks, epochs, output });
 */
export async function regrade(text: string, { jwks, epochs, output }: RegradeGrounds): Promise<Regrading> {
  const jws = statementIn(text);
  const keys = keysOf(jwks);
  if (jws === null) return impossible("There is no statement in it.");
  if (keys === null) return impossible("The published keys can't be read.");
  // Whether the statement lets itself be graded again at all, before anything else is missed.
  const blank = { jws, epoch_secret: "0".repeat(64), response_base64: null, response_salt: null };
  const first = await regradeStatement(blank, keys);
  if (first.status === "refused") return impossible(UNREGRADABLE[first.reason]);
  if (!first.result.valid) return impossible("The statement does not hold: its signature or its form is wrong.");
  const secret = await secretOf(subjectOf(text).epoch ?? "", epochs);
  if ("detail" in secret) return impossible(secret.detail);
  const request = RegradeRequest.safeParse({ ...blank, epoch_secret: secret.secret, ...answerIn(output) }).data;
  if (output === null || request === undefined) return impossible(NO_ANSWER);
  const again = await regradeStatement(request, keys);
  if (again.status === "refused") return impossible(UNREGRADABLE[again.reason]);
  const { instance_matches, response_matches, correctness, passed, agrees } = again.result;
  const outcome = agrees ? "agrees" : "differs";
  if (!instance_matches) return { outcome, detail: OTHER_INSTANCE, correctness, passed };
  if (!response_matches) return { outcome, detail: OTHER_ANSWER, correctness, passed };
  const found = `The answer is right at ${correctness}, which is ${passed === true ? "" : "not "}passed`;
  return { outcome, detail: agrees ? `${found}.` : `${found}; the statement says otherwise.`, correctness, passed };
}

function payloadOf(part: string): unknown {
  const bytes = fromBase64url(part);
  try {
    return bytes === null ? null : parsed(textOf(bytes));
  } catch {
    return null;
  }
}

const NO_ANSWER =
  "What the agent answered is not shown: its owner and members see it, and everybody where the owner has published it.";
const OTHER_INSTANCE = "The epoch's secret draws another instance of the task than the statement commits to.";
const OTHER_ANSWER = "The statement commits to another answer than this one.";

function impossible(detail: string): Regrading {
  return { outcome: "impossible", detail, correctness: null, passed: null };
}

function keysOf(jwks: string): JWK[] | null {
  const keys = at(parsed(jwks), "keys");
  return Array.isArray(keys) ? keys.filter(isKey) : null;
}

function isKey(value: unknown): value is JWK {
  return isObject(value) && ["kty", "kid", "crv", "x"].every((name) => typeof value[name] === "string");
}

/** The secret of an epoch as it was published, held to its commitment; or what keeps it from being had. */
async function secretOf(epoch: string, epochs: string): Promise<{ secret: string } | { detail: string }> {
  const items = at(parsed(epochs), "items");
  const found = Array.isArray(items) ? items.filter(isObject).find((one) => one["epoch"] === epoch) : undefined;
  if (found === undefined) return { detail: `The epoch ${epoch} is not among those that were given.` };
  const { secret, commitment } = found;
  if (typeof secret !== "string")
    return { detail: `The secret of the epoch ${epoch} is not published yet: it is seven days after the epoch's end.` };
  const bytes = fromHex(secret);
  if (bytes === null || hex(await sha256(bytes)) !== commitment)
    return { detail: `The secret of the epoch ${epoch} is not the one that was committed to.` };
  return { secret };
}

/** What the agent answered and the salt of the commitment to it; both null where nothing came. */
function answerIn(output: string | null): { response_base64: unknown; response_salt: unknown } {
  const response = output === null ? null : at(parsed(output), "response");
  return { response_base64: at(response, "body_base64") ?? null, response_salt: at(response, "salt") ?? null };
}
