import { fromBase64, fromBase64url, fromHex, hex, sha256, textOf } from "./bytes.ts";
import { at, canonical, isObject, parsed } from "./json.ts";
import { Refused, type Statement, type Trail } from "./trail.ts";

/** What is claimed of a statement: by the path of each member of its subject, as `result.passed`, what it has to be. */
export type Claims = Readonly<Record<string, string | number | boolean | null>>;

/** Bytes with the salt that commits to them, as `GET /api/v1/runs/{run_id}/output` has them. */
export interface Opening {
  body_base64: string;
  /** In hexadecimal. */
  salt: string;
}

/** The step `subject`: the statement says all of `claims`. */
export async function checkClaims(trail: Trail, { credentialSubject }: Statement, claims: Claims): Promise<void> {
  const shown = Object.entries(claims).map(([path, value]) => [path, String(value)] as const);
  await trail.go("subject", Object.fromEntries(shown), async () => {
    for (const [path, value] of Object.entries(claims)) {
      const signed = at(credentialSubject, path) ?? null;
      if (signed !== value) {
        throw new Refused(`It says ${path}: ${JSON.stringify(signed)}, and not ${JSON.stringify(value)}.`);
      }
    }
    return ["Each of these is signed.", null];
  });
}

/** What an answer of the service shows beside a signed statement: what is signed, the key's id, and its place in the log. */
export interface Shown {
  statement: unknown;
  kid: unknown;
  index: unknown;
}

/** The step `subject`: what an answer shows as the statement and its key, beside the signed one, is what is signed. */
export async function checkShown(trail: Trail, jws: string, { statement, kid }: Shown): Promise<void> {
  if (statement === undefined && kid === undefined) return;
  const shown = [["statement", JSON.stringify(statement)] as const, ["kid", JSON.stringify(kid)] as const];
  const inputs = Object.fromEntries(shown.filter(([, value]) => value !== undefined));
  await trail.go("subject", inputs, async () => {
    const [header, signed] = jws.split(".").map(fromBase64url);
    if (!header || !signed || (statement !== undefined && canonical(statement) !== textOf(signed))) {
      throw new Refused("The member statement beside it says something else than what is signed.");
    }
    if (kid !== undefined && kid !== at(parsed(textOf(header)), "kid")) {
      throw new Refused("The member kid beside it names another key than the one that signed it.");
    }
    return ["What is shown beside it is what is signed.", null];
  });
}

/** How far the reader's clock may be behind the one by which a statement is dated: many look at a run that has just ended. */
const BEHIND_MS = 5 * 60_000;

/** The step `term`: the statement is in force at `now`. */
export async function checkTerm(trail: Trail, { validFrom, validUntil }: Statement, now: Date): Promise<void> {
  const inputs = { "valid from": validFrom, "valid until": validUntil ?? "without end", now: now.toISOString() };
  await trail.go("term", inputs, async () => {
    if (Date.parse(validFrom) > now.getTime() + BEHIND_MS)
      throw new Refused("It is not in force yet, by the clock of this device.");
    if (validUntil !== null && Date.parse(validUntil) <= now.getTime()) throw new Refused("It has expired.");
    return ["It is in force.", null];
  });
}

/** The step `request` or `response`: SHA-256 over salt and bytes is the commitment in the statement. */
export async function checkCommitment(
  trail: Trail,
  name: "request" | "response",
  { credentialSubject }: Statement,
  { body_base64, salt }: Opening,
): Promise<void> {
  const signed = at(credentialSubject, `commitments.${name}`);
  const committed = typeof signed === "string" ? signed : "nothing";
  const inputs: Record<string, string> = { "signed commitment": committed, salt };
  await trail.go(name, inputs, async () => {
    const [bytes, salted] = [fromBase64(body_base64), fromHex(salt)];
    if (bytes === null || salted?.length !== 32) throw new Refused("Bytes or salt are cut off.");
    inputs["bytes"] = String(bytes.length);
    inputs["SHA-256 over salt and bytes"] = hex(await sha256(salted, bytes));
    if (inputs["SHA-256 over salt and bytes"] !== committed) {
      throw new Refused("These bytes are not what the statement commits to.");
    }
    return [`It commits to these ${bytes.length} bytes.`, null];
  });
}

/** An opening, where the value is one. */
export function openingOf(value: unknown): Opening | null {
  if (!isObject(value)) return null;
  const { body_base64, salt } = value;
  return typeof body_base64 === "string" && typeof salt === "string" ? { body_base64, salt } : null;
}
