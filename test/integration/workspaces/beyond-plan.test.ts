import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";
import { addAgent, addRun, addSuite, quietQueueClient, range, type TestSuite } from "../runs/support.ts";
import { addSchedule, SCHEDULES, type Schedule } from "../runs/schedules-support.ts";
import { addTeam, elsewhere, TEAMS } from "./teams-support.ts";

const HOOK = "http://127.0.0.1:9/hook";

let service: TestService;
let suite: TestSuite;
let owner: User;
let editor: User;
let ahead = 0;

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  suite = await addSuite(service, 1);
});
afterAll(() => service.stop());

beforeEach(async () => {
  ahead = 0;
  [owner, editor] = elsewhere([await newUser(service, { plan: "team" }), await newUser(service, { plan: "team" })]);
});

const setPlan = (plan: string) => service.sql("update users set plan = $1 where id = $2", [plan, owner.id]);
const limitAt = async (team: string, by = owner): Promise<number> =>
  (await by.call("GET", `${TEAMS}/${team}`)).body.monthly_run_limit;

/** A workspace of the owner with an agent in it. */
async function placed(): Promise<{ team: string; agent: string; task: string }> {
  const team = await addTeam(service, owner, { editor });
  return { team, agent: await addAgent(owner, { team_id: team }), task: suite.tasks[0] ?? "" };
}

/** What takes more of a workspace, by what each is called: an answer's status and code. */
async function tried({ team, agent, task }: Awaited<ReturnType<typeof placed>>, by: User) {
  const [own, idle] = [await addAgent(editor), await addAgent(editor)];
  await service.sql("update agents set is_active = false, team_id = $1 where id = $2", [team, idle]);
  const requests: Record<string, [method: string, path: string, body: object]> = {
    run: ["POST", "/api/v1/runs", { agent_id: agent, task_id: task }],
    batch: ["POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id }],
    agent: ["POST", "/api/v1/agents", { name: `More ${idle}`, team_id: team }],
    activated: ["PATCH", `/api/v1/agents/${idle}`, { is_active: true }],
    webhook: ["POST", "/api/v1/webhooks", { url: HOOK, event_types: ["run.completed"], agent_id: agent }],
    schedule: ["POST", SCHEDULES, { agent_id: agent, suite_id: suite.id, cron: "0 9 * * *" }],
    moved: ["POST", `/api/v1/agents/${own}/transfer-to-workspace`, { team_id: team }],
  };
  const answers: Record<string, unknown> = {};
  for (const [name, [method, path, body]] of Object.entries(requests)) {
    const answer = await by.call(method, path, body);
    answers[name] = answer.body.code === undefined ? answer.status < 300 : [answer.status, answer.body];
  }
  return answers;
}

const REFUSED = [
  402,
  expect.objectContaining({
    code: "quota_exceeded",
    limit: 0,
    resets_at: null,
    detail: expect.stringMatching(/does not include this workspace.*upgrade.*hand it over/),
  }),
];
const NAMES = ["run", "batch", "agent", "activated", "webhook", "schedule", "moved"];
const all = (what: unknown) => Object.fromEntries(NAMES.map((name) => [name, what]));

describe("a workspace that its owner's plan does not include", () => {
  it("runs and adds nothing, whoever asks, until the plan is larger again", async () => {
    const workspace = await placed();
    await setPlan("free");
    expect(await tried(workspace, editor)).toEqual(all(REFUSED));
    const bulk = await editor.call("POST", "/api/v1/agents/bulk", { rows: [{ name: "B", team_id: workspace.team }] });
    expect(bulk.body.results).toMatchObject([{ status: "quota_exceeded" }]);
    await setPlan("team");
    expect(await tried(workspace, editor)).toEqual(all(true));
  });

  it("can be read, exported, emptied, handed over and deleted", async () => {
    const [{ team, agent, task }, gone] = [await placed(), await placed()];
    const run = await addRun(owner, agent, task);
    await setPlan("free");
    const reads = [`/api/v1/agents?team_id=${team}`, `/api/v1/runs/${run}/output`, `/api/v1/teams/${team}/activity`];
    for (const path of reads) expect((await editor.call("GET", path)).status, path).toBe(200);
    expect((await owner.call("GET", "/api/v1/users/me/export")).status).toBe(200);
    expect((await editor.call("PATCH", `/api/v1/agents/${agent}`, { description: "Still mine" })).status).toBe(200);
    expect((await owner.call("DELETE", `/api/v1/agents/${gone.agent}`)).status).toBe(204);
    expect((await owner.call("DELETE", `${TEAMS}/${gone.team}`)).status).toBe(204);
    expect(await limitAt(team)).toBe(0);
    const handed = await owner.call("POST", `${TEAMS}/${team}/transfer-ownership`, { user_id: editor.id });
    expect([handed.status, handed.body.monthly_run_limit]).toEqual([200, 5000]);
    await addRun(owner, agent, task);
  });

  it("says so on its pages, and what to do", async () => {
    const { team } = await placed();
    const [hers, his] = await Promise.all([visitorOf(service, owner), visitorOf(service, editor)]);
    const says = async () => [
      /does not include this workspace.*a larger plan<\/a>, or hand it over/.test(
        (await hers.open(`/workspaces/${team}`)).html,
      ),
      /does not include this workspace.*Its owner may/.test((await his.open(`/workspaces/${team}`)).html),
      (await his.open("/workspaces")).html.includes("not in the plan"),
    ];
    expect(await says()).toEqual([false, false, false]);
    await setPlan("free");
    expect(await says()).toEqual([true, true, true]);
  });

  it("is one of the newest: as many as the plan includes go on, and a deleted one that paid for runs counts", async () => {
    await setPlan("enterprise");
    const workspaces: Awaited<ReturnType<typeof placed>>[] = [];
    for (const _one of range(5)) workspaces.push(await placed());
    const limits = () => Promise.all(workspaces.map(({ team }) => limitAt(team, editor)));
    await setPlan("team");
    expect(await limits()).toEqual([5000, 5000, 5000, 0, 0]);
    const [first, second] = workspaces.splice(0, 2);
    await addRun(owner, first?.agent ?? "", first?.task ?? "");
    // What is still queued when its agent is deleted is given back, and counts for nothing.
    await service.settled();
    for (const one of [first, second]) {
      await owner.call("DELETE", `/api/v1/agents/${one?.agent}`);
      expect((await owner.call("DELETE", `${TEAMS}/${one?.team}`)).status).toBe(204);
    }
    expect(await limits(), "the second had run nothing").toEqual([5000, 5000, 0]);
    await setPlan("pro");
    expect(await limits()).toEqual([0, 0, 0]);
    await setPlan("enterprise");
    expect(await limits()).toEqual([50_000, 50_000, 50_000]);
  });

  it("has its schedules wait: they say why, and go on with the plan", async () => {
    const { agent } = await placed();
    const { id, next_run_at } = await addSchedule(owner, agent, { suite_id: suite.id, cron: "*/60 * * * *" });
    const due = Date.parse(next_run_at ?? "");
    const [HOUR, read] = [3_600_000, async () => (await owner.call<Schedule>("GET", `${SCHEDULES}/${id}`)).body];
    const minute = async (at: number) => {
      ahead = at - Date.now();
      await service.app.scheduled(EVERY_MINUTE);
      await service.settled();
      ahead = 0;
    };
    const visitor = await visitorOf(service, owner);
    const isSaid = async () => (await visitor.open("/settings/schedules")).html.includes("has no room for it");
    expect([(await read()).waits_for_plan, await isSaid()]).toEqual([false, false]);
    await setPlan("free");
    expect([(await read()).waits_for_plan, await isSaid()], "before it is due").toEqual([true, true]);
    await minute(due);
    expect(await read()).toMatchObject({
      is_active: true,
      last_run_at: null,
      last_error: expect.stringContaining("does not include this workspace"),
    });
    await setPlan("team");
    await minute(due + HOUR);
    expect(await read()).toMatchObject({ last_error: null, last_run_at: expect.any(String) });
    await setPlan("free");
    const turn = async (is_active: boolean) => (await owner.call("PATCH", `${SCHEDULES}/${id}`, { is_active })).status;
    expect([await turn(false), await turn(true)]).toEqual([200, 402]);
  });
});
