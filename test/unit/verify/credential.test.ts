import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { buildCredential } from "../../../shared/evidence/credential.ts";
import { jwks as keySet, keyId } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import { buildStatusList } from "../../../shared/evidence/status-list.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { type Get, NotThere } from "../../../shared/verify/log.ts";
import { verify } from "../../../shared/verify/verify.ts";
import { BASE_URL, honest, logOf, NOON, OTHER_JWK, passedRun, pinned, proofIn, LOG_JWK, signed } from "./support.ts";

const LIST = "/api/v1/credentials/status/0";
const PROOF = `/api/v1/agents/${passedRun.agent.id}/credential?format=tlog-proof`;
const PLACE = 1234;

const credential = buildCredential({
  base_url: BASE_URL,
  agent: passedRun.agent,
  certification: {
    id: "01980000-0000-7000-8000-0000000000cc",
    score: 92.4,
    issued_at: "2026-11-01T00:00:00.000Z",
    expires_at: "2027-11-01T00:00:00.000Z",
    status_index: PLACE,
  },
  screening: { screening_session_id: passedRun.run.id, repeats: 3, suites: [], domains: [] },
});

const list = (revoked: number[], from: Date) => buildStatusList(BASE_URL, 0, revoked, from);

/** What is served in place of the list, beside the proof of a credential, if it has one, and the log. */
function serving(jws: Promise<string>, proof: string | null = null, log: Get = logOf([])): Get {
  return async (path) => {
    if (path.startsWith("/log/")) return log(path);
    if (path === PROOF && proof === null) throw new NotThere(path);
    expect([LIST, PROOF]).toContain(path);
    return new Uint8Array(Buffer.from(path === PROOF ? (proof ?? "") : await jws));
  };
}

const entryOf = (jws: string) => `{"kind":"credential","sha256":"${createHash("sha256").update(jws).digest("hex")}"}`;

/** The proof that the log has a credential, with it, as the service gives it, and that log. */
async function proven(jws: string): Promise<[string, Get]> {
  const entries = ['{"n":0}', entryOf(jws), '{"n":2}'];
  const proof = await proofIn(entries, 1);
  return [proof.replace("\n", `\nextra ${Buffer.from(jws).toString("base64")}\n`), logOf(entries)];
}

async function checked(get: Get | null, now = NOON, jws = signed(credential)) {
  const { jwks } = await honest();
  return verify(await jws, { now, jwks: JSON.stringify(jwks), logKey: pinned(LOG_JWK), get });
}

const YESTERDAY = new Date(NOON.getTime() - 25 * 60 * 60 * 1000);

describe("the credential of a certified agent", () => {
  it("is shown to be in the log by the proof that the service has", async () => {
    const { steps, verified, index } = await checked(
      serving(signed(list([], NOON)), ...(await proven(await signed(credential)))),
    );
    expect([verified, index]).toEqual([true, 1]);
    const passed = steps.filter(({ outcome }) => outcome === "passed").map(({ name }) => name);
    expect(passed.slice(-4)).toEqual(["proof", "checkpoint", "inclusion", "consistency"]);
  });

  it.each<[string, () => Promise<Get | null>]>([
    ["offline", async () => null],
    ["where the service has no proof of it", async () => serving(signed(list([], NOON)))],
    [
      "where the agent has another credential by now",
      async () =>
        serving(
          signed(list([], NOON)),
          ...(await proven(await signed({ ...credential, validFrom: "2026-11-02T00:00:00Z" }))),
        ),
    ],
  ])("is told %s how the log has it", async (_where, get) => {
    const { steps, verified } = await checked(await get());
    expect(verified).toBe(true);
    expect(steps.at(-1)).toMatchObject({
      name: "inclusion",
      outcome: "skipped",
      detail: expect.stringContaining(entryOf(await signed(credential))),
    });
  });

  it("is in force while its bit is not set, whatever other bits are", async () => {
    const report = await checked(serving(signed(list([PLACE - 1, PLACE + 1], NOON))));
    expect(report).toMatchObject({ verified: true, failed: null });
    expect(report.steps.map(({ name }) => name)).toContain("status");
  });

  it("is not said to be in force offline: its status is left open", async () => {
    const { verified, steps } = await checked(null);
    expect([verified, steps.find(({ name }) => name === "status")?.outcome]).toEqual([true, "skipped"]);
  });

  it.each([
    ["revoked", "status", () => checked(serving(signed(list([PLACE], NOON))))],
    ["over", "term", () => checked(serving(signed(list([], NOON))), new Date("2027-11-01T00:00:00.000Z"))],
    ["told of by an old list", "status", () => checked(serving(signed(list([], YESTERDAY))))],
    ["told of by a list of another key", "status", () => checked(serving(signed(list([], NOON), OTHER_JWK)))],
    ["told of by no list", "status", () => checked(serving(signed(credential)))],
    ["told of nowhere", "status", () => checked(async () => Promise.reject(new Error("404")))],
    [
      "told of by somebody else",
      "status",
      () => {
        const elsewhere = `https://other.example${LIST}`;
        const moved = { ...credential.credentialStatus, statusListCredential: elsewhere };
        return checked(
          serving(signed({ ...list([], NOON), id: elsewhere })),
          NOON,
          signed(Object.assign(structuredClone(credential), { credentialStatus: moved })),
        );
      },
    ],
  ])("is refused where it is %s, at the step %s", async (_what, step, check) => {
    const { verified, failed } = await check();
    expect([verified, failed]).toEqual([false, step]);
  });
});

it("is told of by its issuer's own list alone, where the set has the keys of another service, too", async () => {
  const other = "https://other.example";
  const theirs = await loadSigningKeys(JSON.stringify({ keys: [OTHER_JWK] }));
  const by = (issuer: string) =>
    signStatement({ ...list([], NOON), issuer }, theirs.active, keyId(other, theirs.active));
  const set = { keys: [...(await honest()).jwks.keys, ...keySet(other, theirs).keys] };
  const jws = await signed(credential);
  const under = async (lists: Promise<string>) =>
    (
      await verify(jws, { now: NOON, jwks: JSON.stringify(set), logKey: pinned(LOG_JWK), get: serving(lists) })
    ).steps.find(({ name }) => name === "status");
  expect(await under(signed(list([PLACE], NOON)))).toMatchObject({ detail: "It has been revoked." });
  expect(await under(by("did:web:other.example"))).toMatchObject({
    outcome: "failed",
    detail: "The list is did:web:other.example's, and not the issuer's own.",
  });
  expect(await under(by("did:web:screening.example"))).toMatchObject({ outcome: "failed" });
});

it("is not said to be somebody else's alone where a kept set of keys is from before its key, or before its list's", async () => {
  const maybe = expect.stringContaining("or by a key that came into it later, or left it");
  const later = (await checked(null, NOON, signed(credential, OTHER_JWK))).steps.at(-1);
  expect(later).toMatchObject({ name: "key", outcome: "failed", detail: maybe });
  const listed = (await checked(serving(signed(list([], NOON), OTHER_JWK)))).steps.at(-1);
  expect(listed).toMatchObject({ name: "status", outcome: "failed", detail: maybe });
});
