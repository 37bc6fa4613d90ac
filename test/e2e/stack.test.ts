import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newAuthenticator, type Twist } from "../stack/authenticator.ts";
import { json, type Listening, listen } from "../stack/http.ts";
import { caller } from "../stack/client.ts";
import { leastTime } from "../stack/least-time.ts";
import type { LogLine } from "../stack/worker/log.ts";
import { type Deployed, deploy, until } from "./deployed.ts";

let first: Deployed;
let second: Deployed;
let agent: Listening;

beforeAll(async () => {
  [first, second] = await Promise.all([deploy(), deploy()]);
  agent = await listen(() => json(200, { output: "42" }));
});

afterAll(async () => {
  await agent.close();
  await Promise.all([first.stop(), second.stop()]);
});

describe("two stacks side by side", () => {
  it("serve accounts of their own", async () => {
    const account = { email: "same@example.test", password: "correct horse battery" };
    for (const stack of [first, second]) {
      const registered = await stack.call("POST", "/api/v1/auth/register", account);
      expect(registered.status, registered.text).toBe(201);
    }
    const again = await first.call("POST", "/api/v1/auth/register", account);
    expect(again.body.code).toBe("email_taken");
  });
});

describe("the Worker in workerd", () => {
  it("screens an agent, signs the evidence and shows it on the board", async () => {
    const { body } = await first.call("POST", "/api/v1/auth/register", {
      email: "owner@example.test",
      password: "correct horse battery",
    });
    const owner = caller(first, { authorization: `Bearer ${body.access_token}` });
    const created = await owner.call("POST", "/api/v1/agents", { name: "Answers 42", endpoint: `${agent.url}/run` });
    expect(created.status, created.text).toBe(201);
    const tasks = await first.call("GET", "/api/v1/tasks?page_size=3");
    const batch = await owner.call("POST", "/api/v1/runs/batch", {
      agent_id: created.body.id,
      task_ids: tasks.body.items.map(({ id }: { id: string }) => id),
      repeats: 2,
    });
    expect(batch.status, batch.text).toBe(200);
    await until(
      () => owner.call("GET", `/api/v1/screening-sessions/${batch.body[0].screening_session_id}`),
      (session) => session.body.status === "completed",
    );
    const listed = await first.call("GET", `/api/v1/runs?agent_id=${created.body.id}`);
    const counted = listed.body.items.find(({ canary }: { canary: boolean | null }) => canary === false);
    const evidence = await first.call("GET", `/api/v1/runs/${counted.id}/evidence`);
    expect(evidence.body.verified).toBe(true);
    const verdict = await first.call("POST", "/api/v1/evidence/verify", { jws: evidence.body.jws });
    expect(verdict.body.valid).toBe(true);
    const board = await first.call("GET", "/api/v1/leaderboard?verified_only=true");
    expect(board.body.items).toMatchObject([{ agent_id: created.body.id, rank: null, score_basis: "provisional" }]);
    const page = await first.call("GET", "/");
    expect(page.text).toContain("Answers 42");
  });

  it("takes passkeys, though what judges attestations is left out of it, and refuses one with a certificate", async () => {
    const account = { email: "passkey@example.test", password: "correct horse battery" };
    const { body } = await first.call("POST", "/api/v1/auth/register", account);
    const owner = caller(first, { authorization: `Bearer ${body.access_token}` });
    const authenticator = newAuthenticator(first.url);
    const add = async (twist?: Twist) => {
      const options = await owner.call("POST", "/api/v1/users/me/passkeys/options");
      const credential = authenticator.create(options.body, twist);
      return owner.call("POST", "/api/v1/users/me/passkeys", { name: "laptop", credential });
    };
    expect((await add({ format: "android-key" })).body.code).toBe("validation_failed");
    const added = await add();
    expect(added.status, added.text).toBe(201);
    const options = await first.call("POST", "/api/v1/auth/passkeys/options");
    const signedIn = await first.call("POST", "/api/v1/auth/passkeys", { credential: authenticator.get(options.body) });
    expect([signedIn.status, signedIn.body.user?.id]).toEqual([200, body.user.id]);
  });

  it("counts by the address that a caller sends as CF-Connecting-IP", async () => {
    const statuses: number[] = [];
    for (const address of [...Array(11).fill("203.0.113.7"), "203.0.113.8"]) {
      const answer = await first.call("POST", "/api/v1/auth/login", "{", { "cf-connecting-ip": String(address) });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429, 400]);
  });

  it("answers within a second more while Redis hangs, and refuses to sign anybody in", async () => {
    await second.console.call("POST", "/faults", { service: "redis", mode: "hang" });
    const called = async () => expect((await second.call("GET", "/api/v1/suites")).status).toBe(200);
    expect(await leastTime(1500, called)).toBeLessThan(1500);
    const login = await second.call("POST", "/api/v1/auth/login", { email: "same@example.test", password: "x" });
    expect(login.status).toBe(503);
    await second.console.call("POST", "/faults", { service: "redis", mode: "none" });
    expect((await second.call("GET", "/readyz")).status).toBe(200);
  });

  it("has its log at the console, where failures stand by their request's id, and no secrets", async () => {
    const account = { email: "logged@example.test", password: "a secret of 26 characters!" };
    const { body } = await second.call("POST", "/api/v1/auth/register", account);
    const user = caller(second, { authorization: `Bearer ${body.access_token}` });
    await second.console.call("POST", "/faults", { service: "db", mode: "down" });
    const failed = await user.call("GET", "/api/v1/auth/me");
    const login = await second.call("POST", "/api/v1/auth/login", account);
    await second.console.call("POST", "/faults", { service: "db", mode: "none" });
    const lines = async (query: object): Promise<LogLine[]> => {
      const params = new URLSearchParams({ ...query });
      const answer = await second.console.call<LogLine[]>("GET", `/log?${params.toString()}`);
      return answer.body;
    };
    for (const { request_id: contains } of [failed.body, login.body]) {
      const found = await until(
        () => lines({ contains }),
        (some) => some.some(({ level }) => level === "error"),
      );
      const failure = { level: "error", message: "request failed", request_id: contains };
      expect(found).toContainEqual(expect.objectContaining(failure));
      expect(await lines({ contains, level: "error" })).toMatchObject([failure]);
    }
    for (const contains of [...Object.values(account), body.access_token])
      expect(await lines({ contains })).toEqual([]);
    expect((await second.console.call("GET", "/log?levels=error")).status).toBe(400);
  });

  it("offers no fault of a payment provider, which is not there", async () => {
    const answer = await first.console.call("POST", "/faults", { service: "provider", mode: "down" });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining("db, redis") } });
  });

  it("answers 503 and tells nothing while the database is down", async () => {
    await second.console.call("POST", "/faults", { service: "db", mode: "down" });
    const answer = await second.call("GET", "/api/v1/runs");
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect(Object.keys(answer.body).toSorted()).toEqual(["code", "detail", "request_id", "status", "title", "type"]);
    await second.console.call("POST", "/faults", { service: "db", mode: "none" });
  });
});

describe("the console", () => {
  it("shows the mails of an address, whose links work, and forgets them", async () => {
    const to = "reader@example.test";
    await first.call("POST", "/api/v1/auth/register", { email: to, password: "correct horse battery" });
    const { body: mails } = await until(
      () => first.console.call("GET", `/mail?to=${to}`),
      ({ body }) => body.length > 0,
    );
    expect(Object.keys(mails[0]).toSorted()).toEqual(["created_at", "html", "subject", "text", "to"]);
    const token = /token=([\w-]+)/.exec(mails[0].text)?.[1];
    expect((await first.call("POST", "/api/v1/auth/verify-email", { token })).status).toBe(200);
    expect((await first.console.call("DELETE", "/mail")).status).toBe(204);
    expect((await first.console.call("GET", "/mail")).body).toEqual([]);
  });

  it("shows the queue, moves its time, and runs the scheduled work", async () => {
    const queue = await first.console.call("GET", "/queue");
    expect(Object.keys(queue.body).toSorted()).toEqual(["dead", "delivered", "in_flight", "pending", "retried"]);
    expect((await first.console.call("POST", "/queue/advance", { ms: 1000 })).status).toBe(200);
    expect((await first.console.call("POST", "/cron", {})).status).toBe(200);
  });

  it("counts round trips from the last reset on", async () => {
    await first.console.call("POST", "/counters/reset");
    await first.call("GET", "/api/v1/runs");
    const { body } = await first.console.call("GET", "/counters");
    expect(body).toMatchObject({ db: { requests: 1, statements: 1 }, qstash: { requests: 0, messages: 0 } });
  });

  it("makes what many ask for at once for the first of them, and for the others should that one leave", async () => {
    const path = "/api/v1/leaderboard?page=7";
    const ask = (n: number) => second.call("GET", path, undefined, { "cf-connecting-ip": `172.24.0.${n}` });
    const requests = async () => (await second.console.call("GET", "/counters")).body.db.requests;
    await second.console.call("POST", "/counters/reset");
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(n)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await requests()).toBe(1);

    const left = new AbortController();
    await second.console.call("POST", "/faults", { service: "db", mode: "hang", count: 1 });
    const another = `${path}0`;
    const maker = fetch(second.url + another, { signal: left.signal }).catch(() => null);
    await until(requests, (count) => count === 2);
    const others = Promise.all(Array.from({ length: 10 }, () => second.call("GET", another)));
    left.abort();
    expect([await maker, ...(await others).map(({ status }) => status)]).toEqual([null, ...Array(10).fill(200)]);
    await second.console.call("POST", "/faults", { service: "db", mode: "none" });
  });

  it("refuses what it does not know, and shows a person a page", async () => {
    expect((await first.console.call("POST", "/faults", { service: "printer", mode: "down" })).status).toBe(400);
    expect((await first.console.call("GET", "/nothing")).status).toBe(404);
    expect((await first.console.call("GET", "/", undefined, { accept: "text/html" })).text).toContain("Local stack");
  });
});
