import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Principal } from "../../../shared/identity/principal.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { followRun } from "../../../shared/results/follow-run.ts";
import { followSession } from "../../../shared/results/follow-session.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf, eventsOf, sessionOf, timeline } from "./run-events-support.ts";
import { addAgent, addRun, addSuite, deliver, quietQueueClient, startAgent, type TestSuite } from "./support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

let service: TestService;
let owner: User;
let member: User;
let stranger: User;
let endpoint: Consumer;
let suite: TestSuite;
let ctx: Context;
let time: ReturnType<typeof timeline>;

beforeAll(async () => {
  service = await startService();
  [owner, member, stranger] = [
    await newUser(service, { plan: "enterprise" }),
    await newUser(service),
    await newUser(service),
  ];
  endpoint = await startAgent();
  suite = await addSuite(service, 3);
  quietQueueClient();
  // No consumer runs by itself: the tests move the runs by hand.
  service.faults.set({ service: "qstash", mode: "hang" });
});

beforeEach(() => {
  time = timeline();
  ctx = contextOf(service, time.now);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const NOBODY: Principal = { kind: "anonymous" };

/** Opens a run's stream as somebody at an address, and reads it as it comes. */
async function read(run: string, who: Principal, address = "one") {
  const stream = await followRun({ ...ctx, addressHash: address }, who, run, 0, time.sleep);
  if (stream === "seen") throw new Error("nothing to follow");
  return time.read(stream(new AbortController().signal));
}

describe("the streams of one run", () => {
  it("cost together as many looks as one, however many viewers of whatever rights there are", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    const readers = [];
    for (let n = 0; n < 15; n += 1) readers.push(await read(run, NOBODY, `address ${n % 5}`));
    for (const who of [owner, owner, owner, stranger, member]) readers.push(await read(run, sessionOf(who)));
    const looks = vi.spyOn(ctx.db, "execute");
    await time.pass(60_000);
    // After 1, 2.5, 4.8, 8.1, 13.2, 20.8, 32.2 and 47.2 seconds.
    expect(looks).toHaveBeenCalledTimes(8);
    for (const { text } of readers) expect(text()).toMatch(/^retry: 1000\n\n(?::\n\n){10,}$/);
    expect(await deliver(service, "dispatch", run)).toBe(200);
    await time.pass(2500);
    expect(looks).toHaveBeenCalledTimes(9);
    expect(await deliver(service, "score", run)).toBe(200);
    await time.pass(1200);
    expect(looks).toHaveBeenCalledTimes(10);
    looks.mockRestore();
    const { items } = (await owner.call("GET", `/api/v1/runs/${run}/phases`)).body;
    const seenBy = async (who: Caller) => (await who.call("GET", `/api/v1/runs/${run}`)).body;
    const [others, owners] = [await seenBy(caller(service)), await seenBy(owner)];
    expect(owners.scope).toBe("personal");
    expect(others.scope).toBeUndefined();
    for (const [place, { text, ended }] of readers.entries()) {
      const told = eventsOf(text());
      expect(ended()).toBe(true);
      expect(told.slice(0, -1).map(({ data }) => data)).toEqual(items);
      expect(told.at(-1)).toEqual({ id: "final", event: "run", data: place >= 15 && place < 18 ? owners : others });
    }
  });

  it("are judged one by one at each look: who may see no more is told no more", async () => {
    const team = await addTeam(service, owner, { member });
    const agent = await addAgent(owner, { endpoint: endpoint.url, team_id: team });
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    const [owners, members, strangers] = [
      await read(run, sessionOf(owner)),
      await read(run, sessionOf(member)),
      await read(run, NOBODY),
    ];
    await time.pass(1200);
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    expect(await deliver(service, "dispatch", run)).toBe(200);
    const looks = vi.spyOn(ctx.db, "execute");
    await time.pass(1600);
    expect(looks).toHaveBeenCalledTimes(1);
    expect([strangers.ended(), eventsOf(strangers.text())]).toEqual([true, []]);
    const soFar = eventsOf(members.text());
    expect(soFar).toEqual(eventsOf(owners.text()));
    expect(soFar.length).toBeGreaterThan(1);
    await service.sql("delete from team_members where team_id = $1 and user_id = $2", [team, member.id]);
    expect(await deliver(service, "score", run)).toBe(200);
    await time.pass(1200);
    expect(looks).toHaveBeenCalledTimes(2);
    looks.mockRestore();
    expect([members.ended(), eventsOf(members.text())]).toEqual([true, soFar]);
    expect(eventsOf(owners.text()).at(-1)).toMatchObject({ event: "run", data: { team_id: team } });
  });

  /** The same account, signed in once more. */
  async function again(user: User): Promise<User> {
    const { email } = user;
    const { body } = await caller(service).call("POST", "/api/v1/auth/login", { email, password: PASSWORD });
    const token: string = body.access_token;
    return { ...user, token, ...caller(service, { authorization: `Bearer ${token}` }) };
  }

  /** Whoever calls with an account's key of scope `read`. */
  function keyOf({ id: userId }: User, { id: keyId, key }: { id: string; key: string }): Principal {
    return { kind: "key", userId, keyId, keyHash: sha256(key), scope: "read", scopes: null, teamOwnerId: null };
  }

  it.each([
    ["is rotated", (user: User, id: string) => user.call("POST", `/api/v1/api-keys/${id}/rotate`)],
    [
      "expires",
      (_user: User, id: string) =>
        // By the clock of the streams, which is behind the service's.
        service.sql("update api_keys set expires_at = $2 where id = $1", [id, time.now()]),
    ],
  ])("end when the key that they are read by %s, and no others do", async (_what, happens) => {
    const user = await newUser(service);
    const agent = await addAgent(user, { endpoint: endpoint.url, is_public: false });
    const run = await addRun(user, agent, suite.tasks[0] ?? "");
    const [gone, kept] = await Promise.all(
      ["gone", "kept"].map(async (name) => (await user.call("POST", "/api/v1/api-keys", { name, scope: "read" })).body),
    );
    const readers = [await read(run, keyOf(user, gone)), await read(run, keyOf(user, kept))];
    await time.pass(1200);
    await happens(user, gone.id);
    expect(await deliver(service, "dispatch", run)).toBe(200);
    await time.pass(2500);
    expect(readers.map(({ text, ended }) => [ended(), eventsOf(text()).length > 0])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it("end with the session or the key that they are read by, and by no further look", async () => {
    const user = await newUser(service);
    const agent = await addAgent(user, { endpoint: endpoint.url, is_public: false });
    const run = await addRun(user, agent, suite.tasks[0] ?? "");
    const [gone, kept] = [await again(user), await again(user)];
    const key = (await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" })).body;
    const readers = [
      await read(run, sessionOf(gone)),
      await read(run, keyOf(user, key)),
      await read(run, sessionOf(kept)),
    ];
    await time.pass(1200);
    expect(readers.map(({ ended }) => ended())).toEqual([false, false, false]);
    expect((await gone.call("POST", "/api/v1/auth/logout")).status).toBeLessThan(300);
    expect((await user.call("DELETE", `/api/v1/api-keys/${key.id}`)).status).toBeLessThan(300);
    expect(await deliver(service, "dispatch", run)).toBe(200);
    const looks = vi.spyOn(ctx.db, "execute");
    await time.pass(1600);
    expect(looks).toHaveBeenCalledTimes(1);
    looks.mockRestore();
    const told = readers.map(({ text, ended }) => [ended(), eventsOf(text()).length > 0]);
    expect(told).toEqual([
      [true, false],
      [true, false],
      [false, true],
    ]);
    expect((await user.call("DELETE", "/api/v1/auth/sessions")).status).toBeLessThan(300);
    const before = readers[2]?.text();
    expect(await deliver(service, "score", run)).toBe(200);
    await time.pass(2500);
    expect([readers[2]?.ended(), readers[2]?.text()]).toEqual([true, before]);
    await expect(followRun(ctx, sessionOf(kept), run, 0)).rejects.toThrow(/run/);
  });
});

describe("the streams of one session", () => {
  const STATES = ["running", "completed", "failed", "cancelled"];
  const steps = fc.array(
    fc.record({
      moves: fc.array(fc.record({ run: fc.nat(5), to: fc.nat(3) }), { maxLength: 3 }),
      // Which readers stop reading, and which one comes new.
      stalled: fc.array(fc.nat(5), { maxLength: 3 }),
      joins: fc.boolean(),
      pass: fc.nat(20_000),
    }),
    { maxLength: 8 },
  );

  it("tell every reader every change once, from wherever it stands and however slowly it reads", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        time = timeline();
        ctx = contextOf(service, time.now);
        const batch = { agent_id: agent, task_ids: suite.tasks, repeats: 2 };
        const { body: runs } = await owner.call("POST", "/api/v1/runs/batch", batch);
        const session: string = runs[0].screening_session_id;
        const move = (run: number, to: number) =>
          service.sql(
            `update runs set status = $2::text, passed = case when $2 = 'completed' then true end,
               started_at = coalesce(started_at, now()), finalized_at = case when $2 <> 'running' then now() end
             where id = $1 and (status = 'queued' or status = 'running' and $2 <> 'running')`,
            [runs[run].id, STATES[to]],
          );
        const readers: Awaited<ReturnType<typeof read>>[] = [];
        const join = async () => {
          const at = { ...ctx, addressHash: `address ${readers.length}` };
          const stream = await followSession(
            at,
            readers.length % 3 === 0 ? sessionOf(owner) : NOBODY,
            session,
            "",
            time.sleep,
          );
          if (stream !== "seen") readers.push(time.read(stream(new AbortController().signal)));
        };
        for (let n = 0; n < 4; n += 1) await join();
        for (const { moves, stalled, joins, pass } of script) {
          for (const { run, to } of moves) await move(run, to);
          if (joins) await join();
          for (const [place, reader] of readers.entries()) reader.stall(stalled.includes(place));
          await time.pass(pass);
        }
        for (const reader of readers) reader.stall(false);
        for (let run = 0; run < 6; run += 1) await move(run, 1);
        await time.pass(60_000);
        const states = await service.sql<{ id: string; status: string }>(
          "select id, status from runs where screening_session_id = $1",
          [session],
        );
        const expected = Object.fromEntries(states.map(({ id, status }) => [id, status]));
        for (const { text, ended } of readers) {
          const told = eventsOf(text()).filter(({ event }) => event === "run");
          const changes = told.map(({ data }) => `${data.id} ${data.status}`);
          expect(new Set(changes).size).toBe(changes.length);
          expect(Object.fromEntries(told.map(({ data }) => [data.id, data.status]))).toEqual(expected);
          expect([ended(), eventsOf(text()).at(-1)?.event]).toEqual([true, "session"]);
        }
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });
});

describe("the places of a caller", () => {
  const PATH = "/events";
  let path: string;
  let addresses = 0;

  beforeAll(async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    path = `/api/v1/runs/${await addRun(owner, agent, suite.tasks[0] ?? "")}${PATH}`;
  });

  const newAddress = () => `172.25.0.${(addresses += 1)}`;
  const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

  /** Opens a stream whose body stays unread. */
  async function open(address: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
    const request = new Request(service.url + path, { method, headers: { "cf-connecting-ip": address, ...headers } });
    return service.app.fetch(request, {}, execution);
  }

  const statuses = (answers: Response[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
  const letGo = (answers: Response[]) => Promise.all(answers.map(async ({ body }) => body?.cancel()));

  it("are five at an address, exactly, for all who come at once", async () => {
    const address = newAddress();
    const answers = await Promise.all(Array.from({ length: 12 }, () => open(address)));
    expect(statuses(answers)).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get("retry-after")).toBe("20");
    expect(await refused?.json()).toMatchObject({ code: "too_many_streams" });
    expect((await open(newAddress())).status).toBe(200);
    await answers.find(({ status }) => status === 200)?.body?.cancel();
    expect(statuses([await open(address), await open(address)])).toEqual([200, 429]);
    await letGo(answers.filter(({ status }) => status === 200).slice(1));
  });

  it("are an account's wherever it comes from, and not those of its address", async () => {
    const authorization = `Bearer ${owner.token}`;
    const address = newAddress();
    const answers = [];
    for (let n = 0; n < 5; n += 1) answers.push(await open(n < 3 ? newAddress() : address, { authorization }));
    expect(statuses(answers)).toEqual(Array(5).fill(200));
    expect((await open(address, { authorization })).status).toBe(429);
    const beside = await open(address);
    expect(beside.status).toBe(200);
    await letGo([...answers, beside]);
  });

  it("are not taken by what does not stay open: HEAD, 404, a final run, a reader that is refused", async () => {
    const address = newAddress();
    const { token } = await newUser(service);
    await service.sql("update runs set status = 'cancelled', finalized_at = now() where id = $1", [path.split("/")[4]]);
    const cookie = `service_session=${token}`;
    await caller(service, { cookie, origin: service.url }).call("POST", "/api/v1/auth/logout");
    for (let n = 0; n < 7; n += 1) {
      expect((await open(address, {}, "HEAD")).status).toBe(200);
      expect((await open(address, { authorization: `Bearer ${token}` })).status).toBe(401);
      const final = await open(address);
      expect(await final.text()).toContain("event: run");
      expect((await open(address, { "last-event-id": "final" })).status).toBe(204);
      const gone = path.replace(/[^/]+\/events$/, "01938e7a-0000-7000-8000-000000000009/events");
      expect((await caller(service, { "cf-connecting-ip": address }).call("GET", gone)).status).toBe(404);
    }
  });
});
