import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, growSuite, quietQueueClient, reserved, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let agent: string;
let suite: TestSuite;

const batch = (body: object, who: User = owner) => who.call("POST", "/api/v1/runs/batch", body);

beforeAll(async () => {
  service = await startService();
  // What is reserved shall stay as it is: nothing is carried out here.
  service.faults.set({ service: "qstash", mode: "hang" });
  quietQueueClient();
  owner = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(owner);
  suite = await addSuite(service, 3);
});

afterAll(() => service.stop());

describe("a batch", () => {
  it("of a suite runs its active tasks that are not secret, in the suite's order", async () => {
    const mixed = await addSuite(service, 4);
    await service.sql("update tasks set position = 10 - position where suite_id = $1", [mixed.id]);
    await service.sql("update tasks set is_active = false where id = $1", [mixed.tasks[1]]);
    await service.sql("update tasks set is_secret = true where id = $1", [mixed.tasks[2]]);
    const { status, body } = await batch({ agent_id: agent, suite_id: mixed.id });
    expect(status).toBe(200);
    expect(body.map((run: { task_id: string }) => run.task_id)).toEqual([mixed.tasks[3], mixed.tasks[0]]);
  });

  it("of task ids runs exactly these, in the order given", async () => {
    const wanted = [suite.tasks[2], suite.tasks[0]];
    const { body } = await batch({ agent_id: agent, task_ids: wanted });
    expect(body.map((run: { task_id: string }) => run.task_id)).toEqual(wanted);
  });

  it.each([{}, { task_ids: [] }])("of neither (%j) runs the first 100 of the active catalogue", async (given) => {
    await addSuite(service, 100);
    const shown = await owner.call("GET", "/api/v1/tasks?page_size=100");
    const open = await service.sql<{ id: string }>("select id from tasks where is_active and not is_secret");
    const { body } = await batch({ agent_id: agent, ...given });
    const ran = body.map((run: { task_id: string }) => run.task_id);
    expect(ran).toHaveLength(100);
    expect(open.map(({ id }) => id)).toEqual(expect.arrayContaining(ran));
    const inCatalogueOrder = shown.body.items.filter((task: { is_secret: boolean }) => !task.is_secret);
    expect(ran.slice(0, inCatalogueOrder.length)).toEqual(inCatalogueOrder.map((task: { id: string }) => task.id));
  });

  it("goes by task, then by repeat, under one session, which is the receipt", async () => {
    const { body } = await batch({ agent_id: agent, suite_id: suite.id, repeats: 3 });
    const [{ screening_session_id: receipt }] = body;
    expect(body).toMatchObject(
      suite.tasks.flatMap((task_id) =>
        [1, 2, 3].map((repeat_index) => ({
          task_id,
          repeat_index,
          repeat_total: 3,
          screening_session_id: receipt,
          trigger: "manual",
          suite_id: suite.id,
        })),
      ),
    );
    const session = await caller(service).call("GET", `/api/v1/screening-sessions/${receipt}`);
    expect(session.body).toMatchObject({
      id: receipt,
      agent_id: agent,
      suite_id: suite.id,
      repeats: 3,
      run_ids: body.map(({ id }: { id: string }) => id),
      task_plan: suite.tasks.map((task_id, index) => ({ task_id, suite_version: 1, position: index + 1 })),
    });
  });

  it("takes tasks × repeats runs of the month at once", async () => {
    const before = await reserved(service);
    await batch({ agent_id: agent, suite_id: suite.id, repeats: 10 });
    const after = await reserved(service);
    expect([after["allowances"], after["runs"]]).toEqual([
      (before["allowances"] ?? 0) + 30,
      (before["runs"] ?? 0) + 30,
    ]);
  });

  it("may be private: its runs and its session are the owner's alone", async () => {
    const { body } = await batch({ agent_id: agent, suite_id: suite.id, private: true });
    const path = `/api/v1/screening-sessions/${body[0].screening_session_id}`;
    expect((await caller(service).call("GET", path)).status).toBe(404);
    expect((await owner.call("GET", path)).body.run_ids).toHaveLength(3);
  });
});

describe("a batch that is refused reserves nothing", () => {
  const unknown = "01900000-0000-7000-8000-000000000000";
  const upper = (id: string | undefined): string => (id ?? "").toUpperCase();

  it.each<[string, () => Promise<object> | object, number, string]>([
    ["suite and tasks together", () => ({ suite_id: suite.id, task_ids: suite.tasks }), 422, "conflicting_parameters"],
    ["a suite and an empty list", () => ({ suite_id: suite.id, task_ids: [] }), 422, "conflicting_parameters"],
    ["an unknown suite", () => ({ suite_id: unknown }), 404, "not_found"],
    ["an empty suite", async () => ({ suite_id: (await addSuite(service, 0)).id }), 422, "suite_unavailable"],
    ["a secret suite", async () => ({ suite_id: (await addSuite(service, 2, { secret: true })).id }), 404, "not_found"],
    [
      "a suite whose tasks are all retired",
      async () => ({ suite_id: (await addSuite(service, 2, { columns: { is_active: false } })).id }),
      422,
      "suite_unavailable",
    ],
    ["an unknown task among known ones", () => ({ task_ids: [suite.tasks[0], unknown] }), 404, "not_found"],
    [
      "a secret task among others",
      async () => ({ task_ids: [suite.tasks[0], (await addSuite(service, 1, { secret: true })).tasks[0]] }),
      404,
      "not_found",
    ],
    [
      "a retired task among others",
      async () => ({
        task_ids: [suite.tasks[0], (await addSuite(service, 1, { columns: { is_active: false } })).tasks[0]],
      }),
      422,
      "task_unavailable",
    ],
    ["a task twice", () => ({ task_ids: [suite.tasks[0], suite.tasks[0]] }), 422, "validation_failed"],
    [
      "a task twice, written differently",
      () => ({ task_ids: [suite.tasks[0], upper(suite.tasks[0])] }),
      422,
      "validation_failed",
    ],
    ["no repeat", () => ({ suite_id: suite.id, repeats: 0 }), 422, "validation_failed"],
    ["eleven repeats", () => ({ suite_id: suite.id, repeats: 11 }), 422, "validation_failed"],
    ["half a repeat", () => ({ suite_id: suite.id, repeats: 1.5 }), 422, "validation_failed"],
    ["101 tasks", async () => ({ task_ids: (await addSuite(service, 101)).tasks }), 422, "validation_failed"],
    ["an unknown field", () => ({ suite_id: suite.id, score: 100 }), 422, "unrecognized_field"],
    ["an unknown agent", () => ({ agent_id: unknown, suite_id: suite.id }), 404, "not_found"],
  ])("%s", async (_case, given, status, code) => {
    const body = { agent_id: agent, ...(await given()) };
    const before = await reserved(service);
    const answer = await batch(body);
    expect(answer).toMatchObject({ status, body: { code } });
    expect((answer.body.errors ?? []).length > 0).toBe(status === 422);
    expect(await reserved(service)).toEqual(before);
  });

  it.each([
    ["customer_llm", 410, "provider_custody_retired"],
    ["provider_assistant", 410, "provider_custody_retired"],
  ])("an agent in the retired mode %s", async (mode, status, code) => {
    const retired = await addAgent(owner);
    await service.sql("update agents set connection_mode = $1 where id = $2", [mode, retired]);
    const before = await reserved(service);
    expect(await batch({ agent_id: retired, suite_id: suite.id })).toMatchObject({ status, body: { code } });
    expect(await reserved(service)).toEqual(before);
  });

  it("an agent that is switched off", async () => {
    const off = await addAgent(owner);
    await service.sql("update agents set is_active = false where id = $1", [off]);
    const answer = await batch({ agent_id: off, suite_id: suite.id });
    expect(answer.body.code).toBe("agent_inactive");
    expect(await service.sql("select from runs where agent_id = $1", [off])).toEqual([]);
  });

  it("a suite and repeats that make more runs than one batch has, and than can be answered at once", async () => {
    const large = await addSuite(service, 1);
    await growSuite(service, large, 201);
    const before = await reserved(service);
    const refused = await batch({ agent_id: agent, suite_id: large.id, repeats: 5 });
    expect([refused.status, refused.body.code]).toEqual([422, "suite_unavailable"]);
    expect(refused.body.detail).toContain("This takes 1005 runs, and a batch has at most 1000; nothing was reserved.");
    expect(await reserved(service)).toEqual(before);
    const taken = await batch({ agent_id: agent, suite_id: large.id, repeats: 4 });
    expect([taken.status, taken.body.length]).toEqual([200, 804]);
  });

  it("a stranger's, also where the agent allows trials", async () => {
    const open = await addAgent(owner, { allow_trial: true });
    const before = await reserved(service);
    const stranger = await newUser(service);
    expect(await batch({ agent_id: open, suite_id: suite.id }, stranger)).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    });
    const anonymous = await caller(service).call("POST", "/api/v1/runs/batch", { agent_id: open });
    expect(anonymous.status).toBe(401);
    expect(await reserved(service)).toEqual(before);
  });
});
