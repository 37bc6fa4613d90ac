import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, startAgent, type TestSuite } from "./support.ts";

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

/** What may become of an agent, and with it of its runs. */
const FATES: Record<string, (owner: User, agents: string[], team: string) => Promise<unknown>> = {
  "the agent is deleted": removeAgents,
  "its workspace is deleted": async (owner, agents, team) => {
    await removeAgents(owner, agents);
    expect((await owner.call("DELETE", `/api/v1/teams/${team}`)).status).toBe(204);
  },
  "the account is deleted": async (owner) => {
    const { status, text } = await owner.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
    expect(status, text).toBe(202);
    ahead += 15 * DAY;
    await service.app.scheduled(DAILY);
    ahead += DAY;
    await service.app.scheduled(DAILY);
  },
};

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
    const anonymous = caller(service);
    const before = await anonymous.call("GET", `/api/v1/runs/${counted}/evidence`);
    expect(before.body).toMatchObject({ verified: true, statement: { credentialSubject: { run: { id: counted } } } });
    for (const run of [uncounted, secret]) {
      expect((await owner.call("GET", `/api/v1/runs/${run}/evidence`)).status).toBe(200);
    }

    await FATES[fate]?.(owner, [open, hidden], team);

    const stranger = await newUser(service);
    for (const who of [anonymous, stranger]) {
      const after = await who.call("GET", `/api/v1/runs/${counted}/evidence`);
      expect(after.status, after.text).toBe(200);
      expect(after.body).toEqual(before.body);
      expect(JSON.stringify(after.body)).not.toContain("of mine");
      const compact = await who.call("GET", `/api/v1/runs/${counted}/evidence`, undefined, {
        accept: "application/vc+jwt",
      });
      expect(compact.text).toBe(before.body.jws);
      expect((await who.call("POST", "/api/v1/evidence/verify", { jws: compact.text })).body.valid).toBe(true);
      for (const path of ["", "/phases", "/output"].map((part) => `/api/v1/runs/${counted}${part}`)) {
        expect((await who.call("GET", path)).status, path).toBe(404);
      }
      for (const run of [uncounted, secret]) {
        expect((await who.call("GET", `/api/v1/runs/${run}/evidence`)).status).toBe(404);
      }
    }
  });
});
