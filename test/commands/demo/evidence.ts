import { type JWK } from "jose";
import * as z from "zod";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { verifyStatement } from "../../../shared/evidence/verify.ts";
import { verifyProof } from "../../integration/transparency/verifier.ts";
import { type ApiClient, ensure } from "./client.ts";

const KeySet = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });
const Subject = z.looseObject({
  run: z.looseObject({ id: z.string() }),
  result: z.looseObject({ passed: z.boolean() }),
});
const AT_ONCE = 8;

/** What a check of evidence found. */
export interface EvidenceReport {
  verified: number;
  kids: string[];
  /** Why a statement with one changed byte is refused. */
  tampered: string;
}

/**
 * Fetches the signed statement of every run and verifies it on this side, with the published keys alone: signature,
 * form, issuer, and that it says of the run what the API says. Then changes one byte of one of them.
 * @throws DemoFailure at the first statement that is not valid, or when the changed one still is.
 */
export async function checkEvidence(
  api: ApiClient,
  runs: readonly { id: string; passed: boolean | null }[],
): Promise<EvidenceReport> {
  const keys: JWK[] = (await api.get("/.well-known/jwks.json", KeySet)).keys;
  ensure(keys.length > 0, "The service publishes no keys.");
  const signers = new Set<string>();
  let sample = "";
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    await Promise.all(
      runs.slice(from, from + AT_ONCE).map(async ({ id, passed }) => {
        const jws = await api.text(`/api/v1/runs/${id}/evidence`, "application/vc+jwt");
        const found = await verifyStatement(jws, keys, { now: new Date() });
        ensure(found.valid, `The evidence of run ${id} is not valid: ${found.valid ? "" : found.reason}.`);
        const subject = Subject.parse(found.statement.credentialSubject);
        ensure(
          subject.run.id === id && subject.result.passed === (passed ?? false),
          `The evidence of run ${id} tells another story.`,
        );
        signers.add(found.kid);
        sample = jws;
      }),
    );
  }
  const verdict = await verifyStatement(withChangedByte(sample), keys);
  ensure(!verdict.valid, "A statement with a changed byte passed as valid.");
  return { verified: runs.length, kids: [...signers], tampered: verdict.reason };
}

const RunEvidence = z.object({ jws: z.string(), log: z.object({ index: z.number(), proof: z.string() }).nullable() });
const LOGGED_MS = 30_000;

/**
 * Waits until the log has the statement of a run, each time after `minute`. Then proves offline that it stands there, with
 * the log's key alone, by a verifier that shares no code with the service; resolves to its place.
 * @throws DemoFailure where the log does not take it in time; throws where the proof does not hold.
 */
export async function checkLog(api: ApiClient, runId: string, minute: () => Promise<void>): Promise<number> {
  const key = await api.text("/log/key", "text/plain");
  for (const started = Date.now(); ; await delay(500)) {
    const { jws, log } = await api.get(`/api/v1/runs/${runId}/evidence`, RunEvidence);
    if (log !== null) {
      const entry = JSON.stringify({ kind: "run", sha256: createHash("sha256").update(jws).digest("hex") });
      return verifyProof(log.proof, entry, key);
    }
    ensure(Date.now() - started < LOGGED_MS, `The log has not taken the evidence of run ${runId}.`);
    await minute();
  }
}

/** The JWS with one bit of one byte in the middle of its payload turned. */
function withChangedByte(jws: string): string {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const bytes = Buffer.from(payload, "base64url");
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  return [header, bytes.toString("base64url"), signature].join(".");
}
