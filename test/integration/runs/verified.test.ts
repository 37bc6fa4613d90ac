import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, answersRightly, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let stranger: User;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  stranger = await newUser(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => void (endpoint.answer = answersRightly));

const wrong: Handler = () => json(200, { output: "wrong" });
const broken: Handler = () => json(500, {});

async function run(agent: string, { who = owner, answer = answersRightly, fields = {} } = {}): Promise<string> {
  endpoint.answer = answer;
  const id = await addRun(who, agent, suite.tasks[0] ?? "", fields);
  await service.settled();
  return id;
}

const live = () => addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
const stateOf = async (agent: string) => (await owner.call("GET", `/api/v1/agents/${agent}`)).body.verified_state;
/** Whether an agent is among the verified ones of the board; null where it is on none. */
const onBoard = async (agent: string) =>
  (
    await service.sql<{ verified: boolean }>(
      "select verified from board_entries where agent_id = $1 and domain = 'all' and period = 'all'",
      [agent],
    )
  )[0]?.verified ?? null;

describe("an agent is verified by", () => {
  it.each<[string, Parameters<typeof run>[1], boolean | null]>([
    ["a run that passes", {}, true],
    ["a run that does not, but is answered", { answer: wrong }, true],
    ["a private run, without coming on the board", { fields: { private: true } }, null],
  ])("%s", async (_what, options, listed) => {
    const agent = await live();
    await run(agent, options);
    expect([await stateOf(agent), await onBoard(agent)]).toEqual(["verified", listed]);
  });
});

describe("an agent is not verified by", () => {
  it("runs that it never answered, however many are signed and counted, until it answers one", async () => {
    const agent = await live();
    for (const _n of [1, 2]) {
      const id = await run(agent, { answer: broken });
      expect((await owner.call("GET", `/api/v1/runs/${id}`)).body).toMatchObject({
        failure_code: "agent_http_error",
        evidence_signed: true,
      });
      expect([await stateOf(agent), await onBoard(agent)]).toEqual(["unverified", false]);
    }
    await run(agent, { fields: { private: true } });
    expect([await stateOf(agent), await onBoard(agent)]).toEqual(["verified", true]);
  });

  it("a stranger's trial", async () => {
    const agent = await live();
    await run(agent, { who: stranger });
    expect(await stateOf(agent)).toBe("unverified");
  });

  it("simulated runs", async () => {
    const agent = await addAgent(owner);
    await run(agent);
    expect(await stateOf(agent)).toBe("unverified");
  });
});

describe("the migration mends", () => {
  const migrate = async () =>
    service.sql(
      await readFile(new URL("../../../migrations/0007_verified_by_completed_runs.sql", import.meta.url), "utf8"),
    );

  it.each<[string, Parameters<typeof run>[1], string, string]>([
    ["an agent that never answered", { answer: broken }, "verified", "unverified"],
    ["an agent that answered in private alone", { fields: { private: true } }, "unverified", "verified"],
    ["and leaves one that answered", { answer: wrong }, "verified", "verified"],
    ["and leaves one that did not", { answer: broken }, "unverified", "unverified"],
    ["and leaves a certified one", { answer: broken }, "certified", "certified"],
  ])("%s", async (_what, options, before, after) => {
    const agent = await live();
    await run(agent, options);
    await service.sql("update agents set verified_state = $2 where id = $1", [agent, before]);
    await migrate();
    await migrate();
    expect(await stateOf(agent)).toBe(after);
    if (options?.fields === undefined) expect(await onBoard(agent)).toBe(after !== "unverified");
  });
});
