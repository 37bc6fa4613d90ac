import { generateKeyPairSync } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { askAs, certifySigned, DAY, JWT, listOf, type Office, refundCertification } from "./credential-support.ts";
import { addSuite, startAgent, type TestSuite } from "../runs/support.ts";
import { elsewhere } from "../workspaces/teams-support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let anonymous: Caller;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;
const now = () => new Date(Date.now() + ahead);

beforeAll(async () => {
  service = await startService({ overrides: { now } });
  owner = await newUser(service, { plan: "team" });
  anonymous = caller(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  ahead = 0;
  // Each test from addresses of its own, so that no limit is shared.
  [owner] = elsewhere([owner]);
});

const office = (): Office => ({ service, owner, endpoint: endpoint.url, suite, now });
const issued = (fields: object = {}, columns: Record<string, unknown> = {}) => certifySigned(office(), fields, columns);
const refund = (id: string) => refundCertification(service, id);
const ask = (path: string, by: Caller = anonymous, headers?: Record<string, string>) => askAs(by, path, headers);

/** Asks once what may be kept of the answer has expired. */
function askAfresh(path: string): Promise<Answer> {
  ahead += 10_000;
  return ask(path);
}

async function freshList(list = 0): Promise<string> {
  return (await askAfresh(listOf(list))).text;
}

const claimsOf = (payload: Uint8Array) => JSON.parse(new TextDecoder().decode(payload));

/**
 * What anybody can do with the published keys and the list, without the service's code: says why a credential is not to be
 * trusted, or null.
 */
async function objection(jws: string, list: string, keys: JSONWebKeySet, at = now()): Promise<string | null> {
  const verified = async (text: string) => {
    const { payload, protectedHeader } = await compactVerify(text, createLocalJWKSet(keys), { algorithms: ["EdDSA"] });
    const claims = claimsOf(payload);
    const from = protectedHeader.kid?.startsWith(`${claims.issuer}#`) === true && protectedHeader.typ === "vc+jwt";
    const valid = Date.parse(claims.validFrom) <= at.getTime() && at.getTime() < Date.parse(claims.validUntil);
    return { claims, problem: from ? (valid ? null : "validity") : "issuer" };
  };
  try {
    const [credential, status] = [await verified(jws), await verified(list)];
    if (credential.problem !== null) return credential.problem;
    if (status.problem !== null) return `list: ${status.problem}`;
    const { statusPurpose, statusListIndex, statusListCredential } = credential.claims.credentialStatus;
    const { credentialSubject: subject, id } = status.claims;
    if (id !== statusListCredential || subject.statusPurpose !== statusPurpose) return "list: another";
    const bits = gunzipSync(Buffer.from(subject.encodedList.replace(/^u/, ""), "base64url"));
    if (bits.length < 16 * 1024) return "list: too short";
    const place = Number(statusListIndex);
    return ((bits[(place - (place % 8)) / 8] ?? 0) >> (7 - (place % 8))) % 2 === 1 ? "revoked" : null;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const published = async (): Promise<JSONWebKeySet> => (await ask("/.well-known/jwks.json")).body as never;

/** A JWS with one claim replaced and nothing signed anew. */
function changed(jws: string, from: string, to: string): string {
  const [header, payload = "", signature] = jws.split(".");
  const text = Buffer.from(payload, "base64url").toString("utf8");
  expect(text).toContain(from);
  return [header, Buffer.from(text.replace(from, to)).toString("base64url"), signature].join(".");
}

describe("who has nothing but a credential, a list and the published keys", () => {
  it("trusts one in force, and none that is forged, changed, expired or not yet valid", async () => {
    const { jws } = await issued();
    const [list, keys] = [await freshList(), await published()];
    expect(await objection(jws, list, keys)).toBeNull();
    const { publicKey } = generateKeyPairSync("ed25519");
    const forged = { keys: keys.keys.map((key) => ({ ...key, ...publicKey.export({ format: "jwk" }) })) };
    const bad = "ERR_JWS_SIGNATURE_VERIFICATION_FAILED";
    expect(await objection(jws, list, forged)).toBe(bad);
    for (const [from, to] of [
      ['"score":"92.40"', '"score":"99.40"'],
      ['"passed":4', '"passed":3'],
      ['"validUntil":"20', '"validUntil":"21'],
      ['"statusListIndex":"', '"statusListIndex":"1'],
    ] as const)
      expect(await objection(changed(jws, from, to), list, keys)).toBe(bad);
    expect(await objection(jws, changed(list, '"encodedList":"uH4', '"encodedList":"uH5'), keys)).toBe(bad);
    expect(await objection(jws, list, keys, new Date(now().getTime() + 90 * DAY))).toBe("validity");
    expect(await objection(jws, list, keys, new Date(now().getTime() - DAY))).toBe("validity");
  });

  it("finds the one revoked that was refunded, and no other; an old list is no way out for longer than a day", async () => {
    const [first, second] = [await issued(), await issued()];
    const [before, keys] = [await freshList(), await published()];
    await refund(first.id);
    const after = await freshList();
    expect(await objection(first.jws, after, keys)).toBe("revoked");
    expect(await objection(second.jws, after, keys)).toBeNull();
    expect(await objection(first.jws, before, keys)).toBeNull();
    ahead = DAY;
    expect(await objection(first.jws, before, keys)).toBe("list: validity");
    expect(await objection(first.jws, await freshList(), keys)).toBe("revoked");
    expect(await objection(second.jws, await freshList(), keys)).toBeNull();
  });

  it("finds it revoked even when its agent's account is gone", async () => {
    const leaver = await newUser(service, { plan: "pro", verified: true });
    const { id, agent, jws } = await issued({ is_public: false });
    await service.sql("update agents set user_id = $1, name = 'Leaving' where id = $2", [leaver.id, agent]);
    await refund(id);
    expect((await leaver.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
    ahead = 14 * DAY + 1000;
    await service.app.scheduled("17 3 * * *");
    const [left] = await service.sql("select name, is_active from agents where id = $1", [agent]);
    expect(left).toEqual({ name: "Deleted agent", is_active: false });
    expect(await objection(jws, await freshList(), await published())).toBe("revoked");
  });
});

describe("the status list", () => {
  it("is there for every certification's place, and 404 beyond the last", async () => {
    expect((await ask(listOf(3))).status).toBe(404);
    const { jws, id } = await issued({}, { status_index: 3 * 131_072 + 9 });
    for (const list of [0, 1, 2, 3]) expect((await askAfresh(listOf(list))).status).toBe(200);
    for (const list of [4, 16_384, 999_999_999]) expect((await ask(listOf(list))).status).toBe(404);
    await refund(id);
    const [zeroth, third, keys] = [await freshList(0), await freshList(3), await published()];
    expect(await objection(jws, third, keys)).toBe("revoked");
    expect(await objection(jws, zeroth, keys)).toBe("list: another");
    await service.sql("delete from certifications where id = $1", [id]);
  });

  it.each(["-1", "01", "1e3", "x", "1234567890"])("has no number %s", async (list) => {
    expect((await ask(listOf(list))).status).toBe(422);
  });

  it("may be kept for five minutes, and is the same for an hour unless something is revoked", async () => {
    const { id } = await issued();
    ahead = 3_600_000 - (Date.now() % 3_600_000);
    const { status, headers, text } = await ask(listOf(0));
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      JWT,
      "public, max-age=300",
    ]);
    const etag = headers.get("etag") ?? "";
    const again = await ask(listOf(0), anonymous, { "if-none-match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
    ahead += 1_800_000;
    expect(await freshList()).toBe(text);
    await refund(id);
    expect((await askAfresh(listOf(0))).headers.get("etag")).not.toBe(etag);
  });

  it("tells nothing of whose credentials are revoked", async () => {
    const { id } = await issued();
    await refund(id);
    const { payload } = await compactVerify(await freshList(), createLocalJWKSet(await published()));
    const { credentialSubject, ...claims } = claimsOf(payload);
    expect(Object.keys(claims).toSorted()).toEqual(["@context", "id", "issuer", "type", "validFrom", "validUntil"]);
    const members = ["encodedList", "id", "statusPurpose", "ttl", "type"];
    expect(Object.keys(credentialSubject).toSorted()).toEqual(members);
  });
});
