import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { seed } from "../../../migrations/seed.ts";
import { DAILY } from "../../../functions/scheduled.ts";
import { mintSuite, secretSuites } from "../../../shared/suites/secret/index.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { TEST_KEYS } from "../../stack/vitest-setup.ts";
import { addAgent, addRun, addSuite, answersRightly, quietQueueClient, range, startAgent } from "../runs/support.ts";
import {
  askedOf,
  carryOut,
  mintingSecretOf,
  reserveCertification,
  sealedInstance,
  tasksWhere,
} from "./secret-suites-support.ts";

const DIAGNOSTIC = "/api/v1/tasks/secret-suites/diagnostic";
const ROTATE = "/api/v1/tasks/secret-suites/rotate";
const SEALED = "sealed-reasoning";
const UNKNOWN = "01900000-0000-7000-8000-000000000000";

let service: TestService;
let admin: User;
let owner: User;
let endpoint: Consumer;
let agent: string;
let sealed: string;

beforeAll(async () => {
  service = await startService();
  admin = await newUser(service, { email: "admin@example.test", verified: true });
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  sealed = await suiteOf(SEALED);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function suiteOf(slug: string): Promise<string> {
  const [suite] = await service.sql<{ id: string }>("select id from suites where slug = $1", [slug]);
  return suite?.id ?? "";
}

const rotate = (suite_id: string) => admin.call("POST", ROTATE, { suite_id });

async function rotated(suite_id: string) {
  const { status, body, text } = await rotate(suite_id);
  expect(status, text).toBe(200);
  return body as { previous_version: number; suite_version: number; tasks_rotated: number };
}

const versionOf = async (suite: string): Promise<number> =>
  (await admin.call("GET", `/api/v1/suites/${suite}`)).body.version;
const activeOf = (suite: string) => tasksWhere(service, "suite_id = $1 and is_active", [suite]);
const everyTask = () => service.sql("select * from tasks order by id");

/** What a new seeding would change; nothing, where the tasks are as the suites' versions mint them. */
async function seedingChanges(): Promise<number> {
  const database = new URL(service.settings["DATABASE_URL"] ?? "").pathname;
  const url = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}${database}`;
  return (await seed(url, TEST_KEYS)).changed;
}

describe("the diagnostic", () => {
  it("tells the counts of every secret suite, and nothing else", async () => {
    const { status, body } = await admin.call("GET", DIAGNOSTIC);
    const counts = (slug: string, name: string) => ({
      suite_id: expect.any(String),
      name,
      suite_version: 1,
      active_tasks: secretSuites.find((suite) => suite.slug === slug)?.templates.length,
      retired_tasks: 0,
    });
    expect([status, body]).toEqual([
      200,
      { enabled: true, suites: [counts(SEALED, "Sealed Reasoning"), counts("sealed-work", "Sealed Work")] },
    ]);
    const { tasks_rotated } = await rotated(sealed);
    const after = (await admin.call("GET", DIAGNOSTIC)).body.suites[0];
    expect(after).toEqual({ ...body.suites[0], suite_version: 2, retired_tasks: tasks_rotated });
  });
});

describe("a rotation of a sealed suite", () => {
  it("puts an instance that is drawn for the new version in the place of each", async () => {
    const before = await activeOf(sealed);
    const version = await versionOf(sealed);
    const { status, body } = await rotate(sealed);
    const result = { suite_id: sealed, previous_version: version, suite_version: version + 1 };
    expect([status, body]).toEqual([200, { ...result, tasks_rotated: before.length }]);
    const after = await activeOf(sealed);
    const [suite] = secretSuites;
    if (suite === undefined) throw new Error("no sealed suite");
    const minted = mintSuite(await mintingSecretOf(service), suite, version + 1);
    expect(after).toMatchObject(JSON.parse(JSON.stringify(minted)));
    expect(after.map(({ position }) => position)).toEqual(range(before.length).map((index) => index + 1));
    for (const [index, task] of after.entries()) {
      const old = before[index];
      const same = ["title", "domain", "suite_id", "is_secret", "time_limit_ms", "reference_cost_usd"];
      expect(task).toMatchObject(Object.fromEntries(same.map((name) => [name, (old as never)?.[name]])));
      expect(task.suite_version).toBe(version + 1);
      expect(JSON.stringify([task.prompt, task.input])).not.toBe(JSON.stringify([old?.prompt, old?.input]));
    }
    expect(await seedingChanges(), "a seeding finds every instance in its place").toBe(0);
  });

  it("leaves the old instances as they were, but retired", async () => {
    const before = await activeOf(sealed);
    await rotated(sealed);
    const after = await tasksWhere(service, "id = any ($1)", [before.map(({ id }) => id)]);
    const retired = { is_active: false, retired_at: expect.any(Date) };
    expect(after).toEqual(before.map((task) => ({ ...task, ...retired })));
  });

  it("is seen in the catalogue at once", async () => {
    const listed = async () =>
      (await caller(service).call("GET", "/api/v1/suites?page_size=100")).body.items.find(
        ({ id }: { id: string }) => id === sealed,
      ).version;
    const before = await listed();
    await rotated(sealed);
    expect(await listed()).toBe(before + 1);
  });

  it("keeps tasks that no template minted, under the new version, and none that was retired", async () => {
    const [made] = await service.sql<{ id: string }>(
      `insert into tasks (suite_id, suite_version, position, is_secret, title, domain, prompt, output_format, grader,
         expected_output, reference_cost_usd, reference_latency_ms)
       select id, version, 99, true, 'Made by hand', 'math', 'What is 6 x 7?', 'text', '{"type":"exact"}', '"42"', 1, 1
       from suites where id = $1 returning id`,
      [sealed],
    );
    const [gone] = await activeOf(sealed);
    await admin.call("POST", `/api/v1/tasks/${gone?.id}/retire`);
    const before = await activeOf(sealed);
    const { suite_version, tasks_rotated } = await rotated(sealed);
    const after = await activeOf(sealed);
    expect([tasks_rotated, after.map(({ title }) => title)]).toEqual([before.length, before.map(({ title }) => title)]);
    expect(after.at(-1)).toEqual({ ...before.at(-1), id: made?.id, suite_version });
    await service.sql("delete from tasks where id = $1", [made?.id]);
    expect(await seedingChanges(), "a seeding leaves out what was retired by hand").toBe(0);
    expect((await activeOf(sealed)).length).toBe(before.length - 1);
  });

  it("gives each of 6 at once a version of its own, beside tasks that are added", async () => {
    const work = await suiteOf("sealed-work");
    const version = await versionOf(work);
    const count = (await activeOf(work)).length;
    const task = { title: "Added", domain: "math", prompt: "1 + 1?", grader: { type: "exact" }, expected_output: "2" };
    const [answers] = await Promise.all([
      Promise.all(range(6).map(() => rotate(work))),
      Promise.all(range(3).map(() => admin.call("POST", "/api/v1/tasks", { ...task, suite_id: work }))),
    ]);
    const versions = answers.map(({ body }) => [body["previous_version"], body["suite_version"]]);
    expect(versions.toSorted(([a = 0], [b = 0]) => a - b)).toEqual(range(6).map((n) => [version + n, version + n + 1]));
    const active = await activeOf(work);
    expect(new Set(active.map(({ suite_version }) => suite_version))).toEqual(new Set([version + 6]));
    const templates = active.flatMap(({ slug }) => (slug === null ? [] : [slug.replace(/-v\d+-/, "-")]));
    expect([templates.length, new Set(templates).size, active.length]).toEqual([count, count, count + 3]);
    await service.sql("update tasks set is_active = false where suite_id = $1 and slug is null", [work]);
    expect(await seedingChanges()).toBe(0);
  });
});

describe("a rotation of any other suite", () => {
  it.each([
    ["public", false],
    ["secret", true],
  ])("raises the version of a %s one and of its active tasks in place", async (_kind, secret) => {
    const suite = await addSuite(service, 3, { secret });
    await admin.call("POST", `/api/v1/tasks/${suite.tasks[1]}/retire`);
    const before = await tasksWhere(service, "suite_id = $1", [suite.id]);
    const answers = await Promise.all(range(4).map(() => rotate(suite.id)));
    expect(new Set(answers.map(({ body }) => body["suite_version"]))).toEqual(new Set([2, 3, 4, 5]));
    expect(answers.map(({ body }) => body["tasks_rotated"])).toEqual([2, 2, 2, 2]);
    expect(await tasksWhere(service, "suite_id = $1", [suite.id])).toEqual(
      before.map((task) => ({ ...task, suite_version: task.is_active ? 5 : 1 })),
    );
  });

  it("has the runs of the old version leave the boards, and those of the new one count", async () => {
    await service.sql("update tasks set is_active = false where suite_id = $1", [await suiteOf("core")]);
    const core = await addSuite(service, 2, { slug: "core" });
    const place = async () => {
      const { body } = await owner.call("GET", `/api/v1/agents/${agent}`);
      return [body.score_basis, body.board?.runs ?? 0];
    };
    const recompute = async () => {
      await service.app.scheduled(DAILY);
      return service.logs.findLast((line) => line.includes('"recomputed"'));
    };
    for (const task of core.tasks) await addRun(owner, agent, task);
    await service.settled();
    const ranked = await place();
    await rotated(core.id);
    await addRun(owner, agent, core.tasks[0] ?? "");
    await service.settled();
    await recompute();
    const first = await place();
    expect(await recompute(), "the boards are as they are defined").toContain('"differed":0');
    await addRun(owner, agent, core.tasks[1] ?? "");
    await service.settled();
    expect([ranked[0], first[0], (await place())[0]]).toEqual(["core", "provisional", "core"]);
    expect(await recompute(), "scoring alone brought them there").toContain('"differed":0');
  });
});

describe("a rotation that can't be", () => {
  it.each<[string, () => Promise<object> | object, number, string]>([
    ["no suite", () => ({ suite_id: UNKNOWN }), 404, "not_found"],
    ["a suite without tasks", async () => ({ suite_id: (await addSuite(service, 0)).id }), 404, "not_found"],
    [
      "a suite without an active task",
      async () => ({ suite_id: (await addSuite(service, 2, { columns: { is_active: false } })).id }),
      404,
      "not_found",
    ],
    ["no id", () => ({ suite_id: SEALED }), 422, "validation_failed"],
    ["nothing", () => ({}), 422, "validation_failed"],
    ["more than a suite", () => ({ suite_id: sealed, suite_version: 9 }), 422, "unrecognized_field"],
  ])("of %s changes nothing", async (_what, body, status, code) => {
    const request = await body();
    const before = [await everyTask(), await service.sql("select * from suites order by id")];
    const answer = await admin.call("POST", ROTATE, request);
    expect([answer.status, answer.body["code"]]).toEqual([status, code]);
    expect([await everyTask(), await service.sql("select * from suites order by id")]).toEqual(before);
  });
});

describe("a run of a secret task under way", () => {
  /** Sends and grades one run of a sealed task, with `between` at one point of it. */
  async function graded(at: "before the call" | "during the call" | "before grading") {
    const [task] = await tasksWhere(service, "slug like $1 and is_active", [`${SEALED}-v%-price-chain`]);
    const { runs } = await reserveCertification(service, agent, [task?.id ?? ""]);
    endpoint.seen.length = 0;
    endpoint.answer = async () => {
      if (at === "during the call") await rotated(sealed);
      if (at === "before grading") service.faults.set({ service: "qstash", mode: "error" });
      return json(200, { output: (await sealedInstance(service, runs[0] ?? "")).expected_output });
    };
    if (at === "before the call") await rotated(sealed);
    await carryOut(service);
    if (at === "before grading") {
      service.faults.set({ service: "qstash", mode: "none" });
      await rotated(sealed);
      await carryOut(service);
    }
    endpoint.answer = answersRightly;
    const [asked] = endpoint.bodies() as [{ task: { prompt: string } }];
    return { task, asked, run: (await owner.call("GET", `/api/v1/runs/${runs[0]}`)).body };
  }

  it.each(["before the call", "during the call", "before grading"] as const)(
    "is that of its old task and of its own instance, whose suite was rotated %s",
    async (at) => {
      quietQueueClient();
      const { task, asked, run } = await graded(at);
      expect(asked.task.prompt).toBe((await askedOf(service, run.id)).prompt);
      expect(run).toMatchObject({ status: "completed", passed: true, task_id: task?.id, evidence_signed: true });
      expect([run.suite_version, await versionOf(sealed)]).toEqual([task?.suite_version, run.suite_version + 1]);
      const evidence = await caller(service).call("GET", `/api/v1/runs/${run.id}/evidence`);
      expect(evidence.body.statement.credentialSubject.task).toEqual({
        id: task?.id,
        domain: task?.domain,
        suite_id: sealed,
        suite_version: task?.suite_version,
        is_secret: true,
        template: { id: "price-chain", version: 2 },
      });
    },
  );
});

describe("a secret task that anybody but certification wants to run", () => {
  it("is answered as one that does not exist, active or retired", async () => {
    const [active] = await activeOf(sealed);
    const [retired] = await tasksWhere(service, "suite_id = $1 and not is_active", [sealed]);
    const plain = ({ status, text }: { status: number; text: string }) => [
      status,
      text.replace(/"request_id":"[^"]+"/, ""),
    ];
    const run = async (task_id = "") => plain(await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id }));
    const batch = async (wanted: object) =>
      plain(await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, ...wanted }));
    const none = [await run(UNKNOWN), await batch({ task_ids: [UNKNOWN] }), await batch({ suite_id: UNKNOWN })];
    expect(none.map(([status]) => status)).toEqual([404, 404, 404]);
    for (const task of [active, retired])
      expect([await run(task?.id), await batch({ task_ids: [task?.id] }), await batch({ suite_id: sealed })]).toEqual(
        none,
      );
    const trial = {
      agent_id: await addAgent(owner, { endpoint: endpoint.url, allow_trial: true }),
      task_id: active?.id,
    };
    expect((await caller(service).call("POST", "/api/v1/runs", trial)).status).toBe(404);
  });
});

// A second service in this process takes the database over from the first: it comes last.
describe("secret suites that are switched off", () => {
  it("are told as such, and none is rotated", async () => {
    const off = await startService({ settings: { FLAGS: "billing,certify,sweeps" } });
    const operator = await newUser(off, { email: "admin@example.test", verified: true });
    const { body } = await operator.call("GET", DIAGNOSTIC);
    const [{ suite_id }] = body.suites;
    const refused = await operator.call("POST", ROTATE, { suite_id });
    expect([body.enabled, refused.status, refused.body["code"]]).toEqual([false, 422, "feature_disabled"]);
    expect((await operator.call("GET", DIAGNOSTIC)).body).toEqual(body);
    await off.stop();
  });
});
