/**
 * Verifies what the service signs, with nothing but WebCrypto and a way to read. It shares no code with the service, so that
 * it can run where the service is not trusted: in a browser, in the client, anywhere.
 *
 * @example
 * const report = await verifyRun(get, runId, { now, logKey: PINNED }); // `get` reads a path of the service
 * report.verified || report.failed // "signature": which step refused it; report.steps tell why
 */
import { textOf } from "./bytes.ts";
import {
  checkClaims,
  checkCommitment,
  checkShown,
  checkTerm,
  type Claims,
  type Opening,
  openingOf,
  type Shown,
} from "./claims.ts";
import { at, isObject, parsed } from "./json.ts";
import { checkConsistency, checkInclusion, checkProof, type Get, NotThere, PROOF_HEAD, proofOf } from "./log.ts";
import { checkCheckpoint } from "./note.ts";
import { checkStatement } from "./statement.ts";
import { checkStatus } from "./status.ts";
import { Refused, type Report, reportOf, type Statement, type Trail } from "./trail.ts";

/** What a verification goes by. */
export interface Options {
  now: Date;
  /** The text of `/.well-known/jwks.json`. */
  jwks: string;
  /** The log's key, `name+hash+key`, as it was pinned; null where none is known. */
  logKey: string | null;
  /** Reads what is not at hand: the log as it is now, a list of revocations, a proof. Null: it stays offline. */
  get: Get | null;
  /** What is claimed of the statement. */
  claims?: Claims;
  /** What the statement is claimed to commit to. */
  opened?: Partial<Record<"request" | "response", Opening | null>>;
}

const OFFLINE = "Not looked at: there is no way to the service from here.";
const NO_KEY = "Not looked at: the key of the log is not known here.";
const NO_PROOF = "Not looked at: there is no proof. The log has a statement about a minute after it was signed.";
const NO_CREDENTIALS_PROOF =
  "Not looked at: there is no proof, and the service has one only while this is the agent's credential. The log has it as";
const ENTRY_KINDS: Readonly<Record<string, string>> = {
  ScreeningRunCredential: "run",
  AgentCertificationCredential: "credential",
};

/**
 * Verifies what somebody handed over, whatever of these it is: a compact JWS, what an endpoint of evidence answers as JSON,
 * a proof with the statement in it (C2SP tlog-proof), or a checkpoint that was kept.
 */
export async function verify(text: string, options: Options): Promise<Report> {
  const given = text.replaceAll("\r\n", "\n").trim();
  return reportOf(async (trail) => {
    const found = await trail.go("kind", { given }, async () => {
      const one = recognised(given);
      return [one.what, one];
    });
    if ("jws" in found) return walk(trail, found.jws, found.proof, options, found.shown);
    if (options.logKey === null) return trail.skip("checkpoint", NO_KEY);
    const checkpoint = await checkCheckpoint(trail, found.checkpoint, options.logKey);
    if (options.get === null) trail.skip("consistency", OFFLINE);
    else await checkConsistency(trail, checkpoint, options.logKey, options.get);
  });
}

/** The compact JWS in what `verify` takes, unchecked; null where there is none. */
export function statementIn(text: string): string | null {
  try {
    const found = recognised(text.replaceAll("\r\n", "\n").trim());
    return "jws" in found ? found.jws : null;
  } catch {
    return null;
  }
}

type Recognised = { what: string } & ({ jws: string; proof: string | null; shown?: Shown } | { checkpoint: string });

function recognised(given: string): Recognised {
  if (given.startsWith(PROOF_HEAD)) {
    const { extra } = proofOf(`${given}\n`);
    if (extra === null)
      throw new Refused("This proof does not bring what it is a proof of: its line extra is missing.");
    return { what: "A proof, with the statement in it.", jws: textOf(extra), proof: `${given}\n` };
  }
  if (given.includes("\n\n\u2014 ")) return { what: "A checkpoint of the log.", checkpoint: `${given}\n` };
  if (given.startsWith("{")) return { what: "An answer of the service, with a statement in it.", ...answered(given) };
  if (given === "") throw new Refused("There is nothing.");
  return { what: "A statement, as it seems.", jws: given.replaceAll(/[\s"]/g, ""), proof: null };
}

/** The statement in what an endpoint of evidence answers, the proof beside it, and what it shows of both. */
function answered(text: string): { jws: string; proof: string | null; shown: Shown } {
  // What is copied from a window may be broken at its edge, within a text too, where JSON allows no line break.
  const answer = parsed(text) ?? parsed(text.replaceAll("\n", ""));
  const [jws, proof] = [at(answer, "jws"), at(answer, "log.proof")];
  if (!isObject(answer) || typeof jws !== "string") throw new Refused("There is no statement in it, no member jws.");
  // The service shows an empty one for what it can't verify itself.
  const isEmpty = isObject(answer["statement"]) && Object.keys(answer["statement"]).length === 0;
  const shown = {
    statement: isEmpty ? undefined : answer["statement"],
    kid: answer["kid"],
    index: at(answer, "log.index"),
  };
  return { jws, proof: typeof proof === "string" ? proof : null, shown };
}

/** Verifies the statement of a run: keys, statement, proof, and what it commits to are read by `get`, and checked here. */
export async function verifyRun(
  get: Get,
  runId: string,
  { logKey = null, now, claims = {} }: Pick<Options, "now" | "claims"> & { logKey?: string | null },
): Promise<Report> {
  const read = async (path: string): Promise<string> => textOf(await get(path, "application/json"));
  return reportOf(async (trail) => {
    const path = `/api/v1/runs/${runId}`;
    const paths = { keys: "/.well-known/jwks.json", "key of the log": "/log/key", statement: `${path}/evidence` };
    const [jwks, served, { jws, proof }] = await trail.go("sources", paths, async () => {
      const [keys, key, answer] = await Promise.all([read(paths.keys), read("/log/key"), read(paths.statement)]);
      return ["All of it was read from the service.", [keys, key, answered(answer)] as const];
    });
    // Owner and members alone may read it, unless it was published: to others the commitments stay closed.
    const output = parsed(await read(`${path}/output`).catch(() => ""));
    const opened = { request: openingOf(at(output, "request")), response: openingOf(at(output, "response")) };
    const said = { "run.id": runId, ...claims };
    await walk(trail, jws, proof, { now, jwks, logKey: logKey ?? served, get, claims: said, opened });
  });
}

/** The steps of a statement, of what it commits to, and of its place in the log. */
async function walk(trail: Trail, jws: string, proof: string | null, options: Options, shown?: Shown): Promise<void> {
  const { now, jwks, claims = {}, opened = {}, get } = options;
  const { statement, sha256 } = await checkStatement(trail, jws, jwks);
  if (shown !== undefined) await checkShown(trail, jws, shown);
  if (Object.keys(claims).length > 0) await checkClaims(trail, statement, claims);
  await checkTerm(trail, statement, now);
  if (statement.credentialStatus !== null) {
    if (get === null) trail.skip("status", OFFLINE);
    else await checkStatus(trail, statement, jwks, now, get);
  }
  for (const name of ["request", "response"] as const) {
    const [opening, commitment] = [opened[name], at(statement.credentialSubject, `commitments.${name}`)];
    if (opening != null) await checkCommitment(trail, name, statement, opening);
    else if (opening === null && commitment !== null) trail.skip(name, "Not looked at: they are not shown to you.");
  }
  const kind = statement.type.map((type) => ENTRY_KINDS[type]).find((one) => one !== undefined);
  if (kind === undefined) return trail.skip("inclusion", "Statements of this kind do not enter the log.");
  const entry = `{"kind":"${kind}","sha256":"${sha256}"}`;
  const missing = kind === "run" ? NO_PROOF : `${NO_CREDENTIALS_PROOF} ${entry}.`;
  const found = proof === null ? await proofFor(jws, statement, get, missing) : { text: proof };
  // A place that is shown without a proof is held to the one that is found.
  await checkPlace(trail, entry, found, shown?.index, options);
}

/** The steps of the log. */
async function checkPlace(
  trail: Trail,
  entry: string,
  found: Found,
  place: unknown,
  { logKey, get }: Options,
): Promise<void> {
  if ("missing" in found) return trail.skip("inclusion", found.missing);
  const proof = await checkProof(trail, found.text, place);
  if (logKey === null) return trail.skip("checkpoint", NO_KEY);
  const checkpoint = await checkCheckpoint(trail, proof.checkpoint, logKey);
  await checkInclusion(trail, entry, proof, checkpoint);
  if (get === null) trail.skip("consistency", OFFLINE);
  else await checkConsistency(trail, checkpoint, logKey, get);
}

/** A proof, or why there is none. */
type Found = { text: string } | { missing: string };

/** The proof that the service has for a statement; of an agent it has but that of the credential which is in force. */
async function proofFor(
  jws: string,
  { credentialSubject: subject }: Statement,
  get: Get | null,
  missing: string,
): Promise<Found> {
  const run = at(subject, "run.id");
  const id = run === undefined ? String(at(subject, "id")).replace(/^urn:uuid:/, "") : run;
  if (get === null || typeof id !== "string" || !/^[\w-]+$/.test(id)) return { missing };
  const path = run === undefined ? `/api/v1/agents/${id}/credential` : `/api/v1/runs/${id}/evidence`;
  return get(`${path}?format=tlog-proof`).then(
    (bytes) => {
      const text = textOf(bytes);
      return run === undefined && statementIn(text) !== jws ? { missing } : { text };
    },
    (error: unknown) => ({ missing: error instanceof NotThere ? missing : `Not looked at: ${messageOf(error)}` }),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
