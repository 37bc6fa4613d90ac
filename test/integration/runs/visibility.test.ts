import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, answersRightly, startAgent, type TestSuite } from "./support.ts";
import { json } from "../../stack/http.ts";

let service: TestService;
let owner: User;
let stranger: User;
let anonymous: Caller;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  [owner, stranger] = [await newUser(service, { plan: "pro" }), await newUser(service)];
  anonymous = caller(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** Screens an agent once, to the end; gives a run and its session. */
async function screen(agent: string, fields: object = {}): Promise<{ run: string; session: string }> {
  const { body } = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, ...fields });
  await service.settled();
  return { run: body[0].id, session: body[0].screening_session_id };
}

const parts = (run: string) => ["", "/phases", "/evidence", "/output"].map((part) => `/api/v1/runs/${run}${part}`);

/** The statuses of these paths for one caller. */
async function statuses(who: Caller, paths: string[]): Promise<number[]> {
  return (await Promise.all(paths.map((path) => who.call("GET", path)))).map(({ status }) => status);
}

/** Whether a list shows a run to a caller. */
async function lists(who: Caller, path: string, run: string): Promise<boolean> {
  return (await who.call("GET", path)).text.includes(run);
}

describe("a public run", () => {
  it("is read by everybody, its output by the owner alone", async () => {
    const { run, session } = await screen(await addAgent(owner, { endpoint: endpoint.url }));
    const paths = [...parts(run), `/api/v1/screening-sessions/${session}`];
    expect(await statuses(anonymous, paths)).toEqual([200, 200, 200, 403, 200]);
    expect(await statuses(stranger, paths)).toEqual([200, 200, 200, 403, 200]);
    expect(await statuses(owner, paths)).toEqual([200, 200, 200, 200, 200]);
  });

  it("shows scope, workspace and failure detail to its owner alone", async () => {
    const { run } = await screen(await addAgent(owner, { endpoint: endpoint.url }));
    const owned = ["scope", "team_id", "failure_detail"];
    for (const who of [anonymous, stranger]) {
      expect(Object.keys((await who.call("GET", `/api/v1/runs/${run}`)).body)).not.toEqual(
        expect.arrayContaining(owned),
      );
    }
    expect(Object.keys((await owner.call("GET", `/api/v1/runs/${run}`)).body)).toEqual(expect.arrayContaining(owned));
  });
});

describe.each<[string, object, object]>([
  ["a run of a private agent", { is_public: false }, {}],
  ["a private run of a public agent", {}, { private: true }],
])("%s", (_case, agentFields, runFields) => {
  it("is there for the owner alone, in every read", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url, ...agentFields });
    const { run, session } = await screen(agent, runFields);
    const paths = [...parts(run), `/api/v1/screening-sessions/${session}`];
    for (const who of [anonymous, stranger]) {
      expect(await statuses(who, paths)).toEqual([404, 404, 404, 404, 404]);
      for (const path of [
        "/api/v1/runs?page_size=100",
        `/api/v1/runs?task_id=${suite.tasks[0]}&page_size=100`,
        `/api/v1/runs?agent_id=${agent}`,
        `/api/v1/agents/${agent}/stats`,
        `/api/v1/agents/${agent}/screening-sessions`,
      ]) {
        expect([path, await lists(who, path, run)]).toEqual([path, false]);
      }
      expect(await lists(who, "/api/v1/leaderboard", agent)).toBe(false);
    }
    expect(await statuses(owner, paths)).toEqual([200, 200, 200, 200, 200]);
    for (const path of [
      `/api/v1/runs?agent_id=${agent}`,
      "/api/v1/runs?mine=true",
      "/api/v1/runs?scope=personal",
      `/api/v1/agents/${agent}/stats`,
      `/api/v1/agents/${agent}/screening-sessions`,
    ]) {
      expect([path, await lists(owner, path, run)]).toEqual([path, true]);
    }
  });
});

describe("private runs", () => {
  it("change no byte of what anybody else is told", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    await screen(agent, { repeats: 2 });
    const paths = [
      `/api/v1/agents/${agent}`,
      `/api/v1/agents/${agent}/stats`,
      `/api/v1/agents/${agent}/screening-sessions`,
      "/api/v1/agents",
      "/api/v1/runs",
      `/api/v1/runs?agent_id=${agent}`,
      "/api/v1/leaderboard",
      "/api/v1/leaderboard?domain=math&period=7d&verified_only=true",
    ];
    const told = async (who: Caller) => Promise.all(paths.map(async (path) => (await who.call("GET", path)).text));
    const cut = (texts: string[]) => texts.slice(0, 3);
    const [public_, other] = [await told(anonymous), await told(stranger)];
    endpoint.answer = () => json(200, { output: "wrong" });
    await screen(agent, { private: true, repeats: 10 });
    endpoint.answer = answersRightly;
    expect(await told(anonymous)).toEqual(public_);
    expect(await told(stranger)).toEqual(other);
    expect(cut(await told(owner))).not.toEqual(cut(public_));
  });

  it("verify an agent, and don't put it on a board", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { run } = await screen(agent, { private: true });
    const { body } = await owner.call("GET", `/api/v1/runs/${run}`);
    expect(body).toMatchObject({ status: "completed", evidence_signed: true });
    expect((await anonymous.call("GET", `/api/v1/agents/${agent}`)).body).toMatchObject({
      verified_state: "verified",
      score_basis: null,
    });
    expect(await service.sql("select from board_entries where agent_id = $1", [agent])).toEqual([]);
  });
});

describe("filters of the list of runs", () => {
  it.each([
    ["scope=personal&mine=true", 422, "conflicting_parameters"],
    ["scope=personal&team_id=01900000-0000-7000-8000-000000000000", 422, "conflicting_parameters"],
    ["agent_id=01900000-0000-7000-8000-000000000000", 404, "not_found"],
    ["team_id=01900000-0000-7000-8000-000000000000", 404, "not_found"],
  ])("%s: %i %s", async (query, status, code) => {
    expect(await owner.call("GET", `/api/v1/runs?${query}`)).toMatchObject({ status, body: { code } });
  });

  it.each(["mine=true", "scope=personal"])("%s needs an account", async (query) => {
    expect((await anonymous.call("GET", `/api/v1/runs?${query}`)).status).toBe(401);
  });
});
