import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JSONWebKeySet } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { issueCredential } from "../../../shared/certification/issue-credential.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { integrate } from "../../../shared/transparency/integrate.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  askAs,
  certifySigned,
  certifyUnsigned,
  DAY,
  JWT,
  keptCredential,
  listOf,
  type Office,
  pathOf,
  refundCertification,
} from "./credential-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addSuite, range, startAgent, type TestSuite, unique } from "../runs/support.ts";
import { verifyProof } from "../transparency/verifier.ts";
import { addTeam, elsewhere } from "../workspaces/teams-support.ts";

const PROOF = "application/vnd.c2sp.tlog-proof";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let stranger: User;
let anonymous: Caller;
/** What certification's consumers work with. */
let ctx: Context;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;
const now = () => new Date(Date.now() + ahead);

beforeAll(async () => {
  service = await startService({ overrides: { now } });
  [owner, stranger] = [await newUser(service, { plan: "team" }), await newUser(service)];
  anonymous = caller(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
  ctx = contextOf(service, now);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  ahead = 0;
  // Each test from addresses of its own, so that no limit is shared.
  [owner, stranger] = elsewhere([owner, stranger]);
});

const office = (): Office => ({ service, owner, endpoint: endpoint.url, suite, now });
const certify = (fields: object = {}, columns: Record<string, unknown> = {}) =>
  certifyUnsigned(office(), fields, columns);
const issued = (fields: object = {}, columns: Record<string, unknown> = {}) => certifySigned(office(), fields, columns);
const refund = (id: string) => refundCertification(service, id);
const kept = (id: string) => keptCredential(service, id);
const ask = (path: string, by: Caller = anonymous, headers?: Record<string, string>) => askAs(by, path, headers);

/** Asks once what may be kept of the answer has expired. */
function askAfresh(path: string): Promise<Answer> {
  ahead += 10_000;
  return ask(path);
}

async function freshList(list = 0): Promise<string> {
  return (await askAfresh(listOf(list))).text;
}

const published = async (): Promise<JSONWebKeySet> => (await ask("/.well-known/jwks.json")).body as never;

describe("the credential of a certified agent", () => {
  it("says what the certification found, signed by the first key", async () => {
    const name = unique("Ada");
    const { agent, id, session, jws } = await issued({ name });
    const { body, headers } = await ask(pathOf(agent));
    const { kid, status_index: index } = await kept(id);
    expect(body).toEqual({ jws, kid, verified: true, statement: expect.any(Object), log: null });
    expect(kid).toBe((await published()).keys[0]?.kid);
    expect(headers.get("vary")).toContain("Accept");
    const [row] = await service.sql<{ issued_at: Date; expires_at: Date }>(
      "select issued_at, expires_at from certifications where id = $1",
      [id],
    );
    const { slug } = (await ask(`/api/v1/suites/${suite.id}`)).body as unknown as { slug: string };
    expect((body as unknown as { statement: object }).statement).toMatchObject({
      id: `urn:uuid:${id}`,
      type: ["VerifiableCredential", "AgentCertificationCredential"],
      validFrom: row?.issued_at.toISOString(),
      validUntil: row?.expires_at.toISOString(),
      credentialStatus: { statusListIndex: String(index), statusListCredential: `${service.url}${listOf(0)}` },
      credentialSubject: {
        id: `urn:uuid:${agent}`,
        name,
        url: `${service.url}/agents/${agent}`,
        certification: {
          score: "92.40",
          repeats: 2,
          tasks: 2,
          runs: 4,
          screening_session_id: session,
          suites: [{ id: suite.id, slug, version: 1 }],
          domains: [{ domain: "math", tasks: 2, runs: 4, passed: 4 }],
        },
      },
    });
    const alone = await ask(pathOf(agent), anonymous, { accept: JWT });
    expect([alone.text, alone.headers.get("content-type")]).toEqual([jws, JWT]);
    const runs = await owner.call("GET", `/api/v1/runs?agent_id=${agent}&page_size=1`);
    for (const path of [pathOf(agent), `/api/v1/runs/${runs.body.items[0].id}/evidence`]) {
      const etags = new Set<string>();
      for (const accept of [JWT, "application/json"]) {
        const etag = (await ask(path, owner, { accept })).headers.get("etag") ?? "";
        const again = await ask(path, owner, { accept, "if-none-match": etag });
        expect([etag, again.status, again.text]).toEqual([expect.stringMatching(/^W\/"\w+"$/), 304, ""]);
        etags.add(etag);
      }
      expect(etags.size, "each form has its own").toBe(2);
    }
  });

  it("comes with the proof that the log has it, as the statement of a run does", async () => {
    const { agent, jws } = await issued();
    const proofs = [[`${pathOf(agent)}?format=tlog-proof`], [pathOf(agent), { accept: PROOF }]] as const;
    expect((await ask(proofs[0][0])).status).toBe(404);
    await integrate(ctx);
    const vkey = (await ask("/log/key")).text.trim();
    const entry = `{"kind":"credential","sha256":"${createHash("sha256").update(jws).digest("hex")}"}`;
    const before = service.counters.db.requests;
    const { log } = (await ask(pathOf(agent))).body as unknown as { log: { index: number; proof: string } };
    expect(service.counters.db.requests - before).toBe(1);
    expect(verifyProof(log.proof, entry, vkey)).toBe(log.index);
    for (const [path, headers] of proofs) {
      const { text, headers: got } = await ask(path, anonymous, headers);
      expect(got.get("content-type")).toBe(PROOF);
      expect(Buffer.from(/^extra (.+)$/m.exec(text)?.[1] ?? "", "base64").toString()).toBe(jws);
      expect(verifyProof(text, entry, vkey)).toBe(log.index);
    }
  });

  it("counts the runs of the verdict: cancelled ones as not passed, those that failed by our fault not at all", async () => {
    const { agent, id, session } = await certify();
    const ends = "update runs set passed = null, status = $1, failure_code = $2 where id = $3";
    const [cancelled, ours] = await service.sql<{ id: string }>("select id from runs where screening_session_id = $1", [
      session,
    ]);
    await service.sql(ends, ["cancelled", null, cancelled?.id]);
    await service.sql(ends, ["failed", "service_error", ours?.id]);
    await issueCredential(ctx, id);
    const { body } = await ask(pathOf(agent));
    expect(body).toMatchObject({
      statement: {
        credentialSubject: { certification: { runs: 3, domains: [{ domain: "math", runs: 3, passed: 2 }] } },
      },
    });
  });

  it("is signed once, however often and at once it is asked for, and whichever key is first by then", async () => {
    const { id } = await certify();
    await Promise.all(range(10).map(() => issueCredential(ctx, id)));
    const first = await kept(id);
    expect(first.jws).not.toBeNull();
    const fresh = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const rotated = { ...ctx, keys: () => loadSigningKeys(JSON.stringify({ keys: [fresh] })) };
    const { id: other } = await certify();
    await Promise.all([id, other].map((one) => issueCredential(rotated, one)));
    expect(await kept(id)).toEqual(first);
    expect((await kept(other)).kid).not.toBe(first.kid);
  });

  it.each(["screening", "not_certified", "expired", "refunded"])("is not signed while it is %s", async (status) => {
    const { id } = await certify({}, { status });
    await issueCredential(ctx, id);
    expect((await kept(id)).jws).toBeNull();
  });

  it("is not kept when a refund, or another signing of it, comes between reading and signing", async () => {
    const meanwhile = (work: () => Promise<void>) => ({ ...ctx, keys: () => work().then(() => ctx.keys()) });
    const { id } = await certify();
    await issueCredential(
      meanwhile(() => refund(id)),
      id,
    );
    expect((await kept(id)).jws).toBeNull();
    const { id: renamed, agent } = await certify();
    let first: string | null = null;
    const named = meanwhile(async () => {
      await owner.call("PATCH", `/api/v1/agents/${agent}`, { name: unique("Renamed") });
      await issueCredential(ctx, renamed);
      first = (await kept(renamed)).jws;
    });
    await issueCredential(named, renamed);
    expect(first).not.toBeNull();
    expect((await kept(renamed)).jws).toBe(first);
  });
});

describe("the service's own check of a credential", () => {
  const check = async (jws: string) => (await anonymous.call("POST", "/api/v1/evidence/verify", { jws })).body;

  it("holds it to its term and to its status", async () => {
    const [one, other] = [await issued(), await issued()];
    expect(await check(one.jws)).toMatchObject({ valid: true, statement: { id: `urn:uuid:${one.id}` } });
    await refund(one.id);
    expect(await check(one.jws)).toEqual({ valid: false, reason: "revoked" });
    expect(await check(other.jws)).toMatchObject({ valid: true });
    expect(await check(await freshList())).toMatchObject({ valid: true });
    ahead = 90 * DAY;
    expect(await check(other.jws)).toEqual({ valid: false, reason: "expired" });
  });
});

describe("who may read a credential", () => {
  const answerTo = async (agent: string, by: Caller) => {
    const { status, text } = await ask(pathOf(agent), by, { "x-request-id": "same" });
    return status === 200 ? status : text;
  };

  it("is everybody for a public agent; for a private one its owner and workspace, to others it is as nobody's", async () => {
    const member = await newUser(service);
    const team = await addTeam(service, owner, { viewer: member });
    const [open, hidden] = [await issued(), await issued({ is_public: false, team_id: team })];
    const none = await answerTo(randomUUID(), anonymous);
    expect(none).toContain("not_found");
    for (const by of [owner, member]) expect(await answerTo(hidden.agent, by)).toBe(200);
    for (const by of [stranger, anonymous]) {
      expect(await answerTo(open.agent, by)).toBe(200);
      expect(await answerTo(hidden.agent, by)).toBe(none);
    }
    await owner.call("DELETE", `/api/v1/agents/${open.agent}`);
    expect(await answerTo(open.agent, anonymous)).toBe(none);
  });

  it.each<[what: string, end: (id: string) => Promise<unknown> | number]>([
    ["is refunded", refund],
    ["has expired", () => (ahead = 90 * DAY)],
    ["was revoked", (id) => service.sql("update certifications set revoked_at = now() where id = $1", [id])],
    ["is not signed yet", (id) => service.sql("update certifications set jws = null where id = $1", [id])],
  ])("is nobody once it %s", async (_what, end) => {
    const { agent, id } = await issued();
    await end(id);
    expect((await ask(pathOf(agent))).status).toBe(404);
  });

  it("gets the new one of an agent that is certified again", async () => {
    const { agent, id, session } = await issued();
    await refund(id);
    const [again] = await service.sql<{ id: string }>(
      `insert into certifications (agent_id, status, price_usd, eu_waiver_at, screening_session_id, score, issued_at, expires_at)
       values ($1, 'certified', 39, now(), $2, 80, now(), now() + interval '90 days') returning id`,
      [agent, session],
    );
    await issueCredential(ctx, again?.id ?? "");
    const { text } = await ask(pathOf(agent), anonymous, { accept: JWT });
    expect(text).toBe((await kept(again?.id ?? "")).jws);
  });
});

describe("badge and page", () => {
  const shown = async (agent: string) => {
    const { text } = await askAfresh(`/api/v1/agents/${agent}/badge.svg`);
    return [
      /<title>agent screening: (.*?)<\/title>/.exec(text)?.[1],
      /height="20" fill="(#1a7f37|#0969da|#6e7781)"/.exec(text)?.[1],
    ];
  };
  const page = async (agent: string) => (await ask(`/agents/${agent}`)).text;

  it("show the certification while it is in force, by its own score, and fall back when it ends", async () => {
    const [refunded, expiring] = [await issued(), await issued({}, { score: 71 })];
    for (const { agent } of [refunded, expiring])
      await service.sql("update agents set verified_state = 'certified' where id = $1", [agent]);
    expect(await shown(refunded.agent)).toEqual(["certified 92.4", "#1a7f37"]);
    expect(await shown(expiring.agent)).toEqual(["certified 71.0", "#1a7f37"]);
    const [issuedOn, until] = [now(), new Date(now().getTime() + 90 * DAY)].map((at) => at.toISOString().slice(0, 10));
    const html = await page(refunded.agent);
    for (const part of [issuedOn ?? "", until ?? "", "92.40", `href="${pathOf(refunded.agent)}"`])
      expect(html).toContain(part);
    await refund(refunded.id);
    ahead = 90 * DAY;
    for (const { agent } of [refunded, expiring]) {
      const [message, color] = await shown(agent);
      expect([message?.replace(/[\d.]+$/, "…"), color]).toEqual(["verified, provisional …", "#0969da"]);
      expect(await page(agent)).not.toContain("Certified");
    }
    await service.sql("update agents set verified_state = 'unverified' where id = $1", [refunded.agent]);
    expect(await shown(refunded.agent)).toEqual(["not certified", "#6e7781"]);
  });
});

it("is verified by what the guide shows, as is the evidence of a run", async () => {
  const guide = readFileSync(new URL("../../../functions/site/guides/verify-evidence.md", import.meta.url), "utf8");
  const [evidence = "", credential = ""] = Array.from(guide.matchAll(/^```ts\n(.*?)^```$/gms), ([, code]) => code);
  const { agent, id, session, jws } = await issued();
  const [run] = await service.sql<{ id: string }>("select id from runs where screening_session_id = $1", [session]);
  const shown = async () => {
    const code = `${evidence}const credential = ${JSON.stringify(jws)};\n${credential}`
      .replaceAll("https://SERVICE", service.url)
      .replace("RUN_ID", run?.id ?? "");
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const args = ["--input-type=module", "--eval", code];
    return (await promisify(execFile)(process.execPath, args, { cwd: root })).stdout;
  };
  expect(await shown()).toMatch(new RegExp(`urn:uuid:${agent}[^]*\nin force\n$`));
  await refund(id);
  // The list is kept in the service's memory for some seconds.
  ahead += 11_000;
  expect(await shown()).toMatch(/\nrevoked\n$/);
});
