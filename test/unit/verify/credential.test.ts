import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { buildCredential } from "../../../shared/evidence/credential.ts";
import { buildStatusList } from "../../../shared/evidence/status-list.ts";
import type { Get } from "../../../shared/verify/log.ts";
import { verify } from "../../../shared/verify/verify.ts";
import { BASE_URL, honest, NOON, OTHER_JWK, passedRun, pinned, LOG_JWK, signed } from "./support.ts";

const LIST = "/api/v1/credentials/status/0";
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

/** What is served in place of the list; it is asked for nothing else. */
function serving(jws: Promise<string>): Get {
  return async (path) => {
    expect(path).toBe(LIST);
    return new Uint8Array(Buffer.from(await jws));
  };
}

async function checked(get: Get | null, now = NOON, jws = signed(credential)) {
  const { jwks } = await honest();
  return verify(await jws, { now, jwks: JSON.stringify(jwks), logKey: pinned(LOG_JWK), get });
}

const YESTERDAY = new Date(NOON.getTime() - 25 * 60 * 60 * 1000);

describe("the credential of a certified agent", () => {
  it.each<[string, Get | null]>([
    ["online", serving(signed(list([], NOON)))],
    ["offline", null],
  ])("is told %s how the log has it, since no proof of that ever comes", async (_where, get) => {
    const { steps } = await checked(get);
    const entry = `{"kind":"credential","sha256":"${createHash("sha256")
      .update(await signed(credential))
      .digest("hex")}"}`;
    expect(steps.at(-1)).toMatchObject({
      name: "inclusion",
      outcome: "skipped",
      detail: expect.stringContaining(entry),
    });
    expect(steps.at(-1)?.detail).not.toContain("a minute");
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

it("is not said to be somebody else's alone where a kept set of keys is from before its key, or before its list's", async () => {
  const maybe = expect.stringContaining("or by a key that came into it later, or left it");
  const later = (await checked(null, NOON, signed(credential, OTHER_JWK))).steps.at(-1);
  expect(later).toMatchObject({ name: "key", outcome: "failed", detail: maybe });
  const listed = (await checked(serving(signed(list([], NOON), OTHER_JWK)))).steps.at(-1);
  expect(listed).toMatchObject({ name: "status", outcome: "failed", detail: maybe });
});
