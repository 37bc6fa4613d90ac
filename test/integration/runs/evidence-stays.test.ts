import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { integrate } from "../../../shared/transparency/integrate.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { Minting } from "./canary-support.ts";
import { contextOf } from "./run-events-support.ts";
import { addAgent, addRun, addSuite, range, startAgent, type TestSuite } from "./support.ts";

const DAILY = "17 3 * * *";
const DAY = 86_400_000;

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  endpoint = await startAgent();
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function addTeam(owner: User): Promise<string> {
  const { body, status, text } = await owner.call("POST", "/api/v1/teams", { name: "Workspace" });
  expect(status, text).toBe(201);
  return body.id;
}

async function removeAgents(owner: User, agents: string[]): Promise<void> {
  for (const agent of agents) expect((await owner.call("DELETE", `/api/v1/agents/${agent}`)).status).toBe(204);
}

type Fate = (owner: User, agents: string[], team: string) => Promise<unknown>;

const hide: Fate = async (owner, agents) => {
  for (const agent of agents)
    expect((await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false })).status).toBe(200);
};

const deleteAccount: Fate = async (owner) => {
  const { status, text } = await owner.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
  expect(status, text).toBe(202);
  ahead += 15 * DAY;
  await service.app.scheduled(DAILY);
  ahead += DAY;
  await service.app.scheduled(DAILY);
};

/** Makes all agents private as an operator does, by their names. */
const scrub: Fate = async () => {
  const admin = await newUser(service, { email: "admin@example.test", verified: true });
  const { status, text } = await admin.call("POST", "/api/v1/agents/admin/scrub-public?name_pattern=Agent");
  expect(status, text).toBe(200);
};

/** What may become of an agent, and with it of its runs. */
const FATES: Record<string, Fate> = {
  "the agent is deleted": removeAgents,
  "its workspace is deleted": async (owner, agents, team) => {
    await removeAgents(owner, agents);
    expect((await owner.call("DELETE", `/api/v1/teams/${team}`)).status).toBe(204);
  },
  "the account is deleted": deleteAccount,
  "the agent is hidden": hide,
  "an operator hides the agent": scrub,
  "the agent is hidden, then the account deleted": async (...of) => {
    await hide(...of);
    await deleteAccount(...of);
  },
};

/** Ways to ask for the statement of a run. */
const FORMS: [query: string, accept: string][] = [
  ["", "application/json"],
  ["", "application/vc+jwt"],
  ["?format=tlog-proof", "*/*"],
  ["", "application/vnd.c2sp.tlog-proof"],
];

/** The status that each form of the statement of a run answers this caller with. */
async function forms(who: Caller, run: string): Promise<number[]> {
  const answers = FORMS.map(([query, accept]) =>
    who.call("GET", `/api/v1/runs/${run}/evidence${query}`, undefined, { accept }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

const ALL = FORMS.map(() => 200);
const NONE = FORMS.map(() => 404);

describe.each(Object.keys(FATES))("after %s", (fate) => {
  it("the statement of a counted run still answers and verifies, and nothing else of the run does", async () => {
    const owner = await newUser(service, { plan: "team", verified: true });
    const team = await addTeam(owner);
    const of = fate.includes("workspace") ? { team_id: team } : {};
    const open = await addAgent(owner, { endpoint: endpoint.url, description: "of mine", ...of });
    const hidden = await addAgent(owner, { endpoint: endpoint.url, is_public: false, ...of });
    const task = suite.tasks[0] ?? "";
    const counted = await addRun(owner, open, task);
    const uncounted = await addRun(owner, open, task, { private: true });
    const secret = await addRun(owner, hidden, task);
    await service.settled();
    await integrate(contextOf(service, () => new Date(Date.now() + ahead)));
    const anonymous = caller(service);
    const before = await anonymous.call("GET", `/api/v1/runs/${counted}/evidence`);
    expect(before.body).toMatchObject({ verified: true, statement: { credentialSubject: { run: { id: counted } } } });
    const { text: proof } = await anonymous.call("GET", `/api/v1/runs/${counted}/evidence?format=tlog-proof`);
    for (const run of [uncounted, secret]) expect(await forms(owner, run)).toEqual(ALL);

    await FATES[fate]?.(owner, [open, hidden], team);

    const stranger = await newUser(service);
    for (const who of [anonymous, stranger]) {
      const after = await who.call("GET", `/api/v1/runs/${counted}/evidence`);
      expect(after.status, after.text).toBe(200);
      expect(after.body.jws).toBe(before.body.jws);
      expect(after.body.log.index).toBe(before.body.log.index);
      expect(JSON.stringify(after.body)).not.toContain("of mine");
      expect(await forms(who, counted)).toEqual(ALL);
      const compact = await who.call("GET", `/api/v1/runs/${counted}/evidence`, undefined, {
        accept: "application/vc+jwt",
      });
      expect(compact.text).toBe(before.body.jws);
      expect((await who.call("POST", "/api/v1/evidence/verify", { jws: compact.text })).body.valid).toBe(true);
      const kept = await who.call("GET", `/api/v1/runs/${counted}/evidence?format=tlog-proof`);
      expect(/^extra .+$/m.exec(kept.text)?.[0]).toBe(/^extra .+$/m.exec(proof)?.[0]);
      for (const path of ["", "/phases", "/output"].map((part) => `/api/v1/runs/${counted}${part}`)) {
        expect((await who.call("GET", path)).status, path).toBe(404);
      }
      for (const run of [uncounted, secret]) expect(await forms(who, run)).toEqual(NONE);
    }
  });
});

describe("an agent that is hidden for a while", () => {
  it("shows statements of before, and those of meanwhile once it is shown again, for good", async () => {
    const owner = await newUser(service, { plan: "pro", verified: true });
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const run = async () => {
      const id = await addRun(owner, agent, suite.tasks[0] ?? "");
      await service.settled();
      return id;
    };
    const statuses = async (runs: string[]) =>
      Promise.all(runs.map(async (id) => (await caller(service).call("GET", `/api/v1/runs/${id}/evidence`)).status));
    const first = await run();
    await hide(owner, [agent], "");
    const second = await run();
    // To hide what is hidden is no later end of its being public.
    await hide(owner, [agent], "");
    expect(await statuses([first, second])).toEqual([200, 404]);
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: true });
    await hide(owner, [agent], "");
    const third = await run();
    expect(await statuses([first, second, third])).toEqual([200, 200, 404]);
    await deleteAccount(owner, [agent], "");
    expect(await statuses([first, second, third])).toEqual([200, 200, 404]);
    expect(await service.sql("select id from runs where agent_id = $1 order by id", [agent])).toEqual([
      { id: first },
      { id: second },
    ]);
  });

  it("takes back no statement that anybody could read, however it is hidden while runs end", async () => {
    const owner = await newUser(service, { plan: "enterprise", verified: true });
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const runs = await Promise.all(range(16).map(() => addRun(owner, agent, suite.tasks[0] ?? "")));
    const anonymous = caller(service);
    const read = new Set<string>();
    const look = async () => {
      for (const id of runs)
        if ((await anonymous.call("GET", `/api/v1/runs/${id}/evidence`)).status === 200) read.add(id);
    };
    const ended = service.settled();
    while (read.size === 0) await look();
    await Promise.all([hide(owner, [agent], ""), look(), look(), ended]);
    for (const id of read) expect((await anonymous.call("GET", `/api/v1/runs/${id}/evidence`)).status).toBe(200);
  });
});

it.each([
  ["application/vc+jwt;q=0.1, application/json", "application/json"],
  ["application/json, application/vc+jwt;q=0", "application/json"],
  ["application/vc+jwt-other, */*", "application/json"],
  ["APPLICATION/VC+JWT", "application/vc+jwt"],
  ["application/vc+jwt; q=0.9, */*; q=0.1", "application/vc+jwt"],
  ["application/vnd.c2sp.tlog-proof;q=0.1, application/vc+jwt", "application/vc+jwt"],
  ["application/vnd.c2sp.tlog-proof;q=0, application/vc+jwt;q=0, */*", "application/json"],
  ["application/vc+jwt;q=0.5, Application/Vnd.C2SP.Tlog-Proof", "application/vnd.c2sp.tlog-proof"],
  ["text/html", "application/json"],
])("asked for %s, sends a statement as %s", async (accept, type) => {
  const owner = await newUser(service, { verified: true });
  const run = await addRun(owner, await addAgent(owner, { endpoint: endpoint.url }), suite.tasks[0] ?? "");
  await service.settled();
  await integrate(contextOf(service, () => new Date(Date.now() + ahead)));
  const answer = await owner.call("GET", `/api/v1/runs/${run}/evidence`, undefined, { accept });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
});

// A service of its own, which comes last: once it has stopped, the database of the one above is not found any more.
describe("runs of a session with canaries", () => {
  let minting: Minting;

  beforeAll(async () => {
    minting = await Minting.start();
  });

  afterAll(() => minting.stop());

  it("whose statements were told before the agent was hidden keep them; those told later are shown to nobody, and go", async () => {
    const agent = await minting.addLive();
    const told = await minting.reserve(agent, 5);
    await minting.released();
    const held = await minting.reserve(agent, 5);
    const [last = held[0], ...others] = held.toReversed();
    await minting.carryOut(others);
    expect((await minting.owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false })).status).toBe(200);
    await minting.released();
    const { canaries, others: counted } = await minting.parted(told);
    const statuses = (who: Caller, of: { id: string }[]) =>
      Promise.all(of.map(async ({ id }) => (await who.call("GET", `/api/v1/runs/${id}/evidence`)).status));
    const { others: late } = await minting.parted(held);
    expect(last?.id).toBe(held.at(-1)?.id);
    expect(await statuses(minting.owner, late)).toEqual(late.map(() => 200));

    const check = async () => {
      expect(await statuses(minting.anonymous, counted)).toEqual(counted.map(() => 200));
      expect(await statuses(minting.anonymous, [...canaries, ...held])).toEqual([...canaries, ...held].map(() => 404));
    };
    await check();
    await minting.owner.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
    for (const days of [15, 16]) {
      minting.at(days * DAY);
      await minting.service.app.scheduled(DAILY);
    }
    await check();
    const kept = await minting.service.sql<{ id: string }>("select id from runs where agent_id = $1", [agent]);
    expect(kept.map(({ id }) => id).toSorted()).toEqual(counted.map(({ id }) => id).toSorted());
  });
});
