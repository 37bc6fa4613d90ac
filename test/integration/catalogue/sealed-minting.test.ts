import { createHash, createHmac } from "node:crypto";
import canonicalize from "canonicalize";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSecret } from "../../../shared/epochs/secret.ts";
import type { Answer } from "../../../shared/grading/types.ts";
import { secretSuites } from "../../../shared/suites/secret/index.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { type Handler, json, type Request } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { TEST_KEYS } from "../../stack/vitest-setup.ts";
import { rightAnswers } from "../../unit/catalogue/template-checks/answers.ts";
import { addAgent, addSuite, range, startAgent } from "../runs/support.ts";
import {
  askedOf,
  carryOut,
  reserveCertification,
  sealedInstance,
  type TaskRow,
  tasksWhere,
} from "./secret-suites-support.ts";

const DAY = "2026-11-22";

interface Sent {
  run_id: string;
  task: { prompt: string; input?: unknown };
}

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let tasks: TaskRow[];

/** How many recorded answers may pass by luck: five in 34 would be one in 10^6. */
const LUCK = 4;

const sentIn = ({ body }: Pick<Request, "body">): Sent => JSON.parse(body.toString()) as Sent;
const taskIds = () => tasks.map(({ id }) => id);

/** Knows the key of each run, as nobody can. */
async function keyOf(run: string): Promise<Answer> {
  const { template, prompt, input, output_format, grader, expected_output } = await sealedInstance(service, run);
  const task = { prompt, input, output_format, grader, expected_output };
  const [answer = { output: null }] = rightAnswers(template.id, task as Parameters<typeof rightAnswers>[1]);
  return answer;
}

const right: Handler = async (request) => json(200, await keyOf(sentIn(request).run_id));

/** Runs tasks as a certification does; resolves to the runs, in the tasks' order. */
async function screen(
  ids: readonly string[],
): Promise<{ id: string; task_id: string; status: string; passed: boolean }[]> {
  const { runs } = await reserveCertification(service, agent, ids);
  await carryOut(service);
  return Promise.all(runs.map(async (id) => (await owner.call("GET", `/api/v1/runs/${id}`)).body));
}

beforeAll(async () => {
  service = await startService({
    settings: { FLAGS: "billing,certify,secret_suites" },
    overrides: { now: () => new Date(`${DAY}T12:00:00Z`) },
  });
  owner = await newUser(service, { plan: "enterprise", verified: true });
  anonymous = caller(service);
  endpoint = await startAgent(right);
  agent = await addAgent(owner, { endpoint: endpoint.url });
  tasks = await tasksWhere(service, "is_secret and is_active");
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

describe("a run of a secret task", () => {
  it("is asked what no other run is, so that the answers that leak of one are worth nothing in the next", async () => {
    expect(tasks).toHaveLength(secretSuites.flatMap(({ templates }) => templates).length);
    const first = await screen(taskIds());
    expect(first.filter(({ passed }) => passed)).toHaveLength(tasks.length);
    const remembered = new Map<string, Answer>();
    for (const { id, task_id } of first) remembered.set(task_id, await keyOf(id));
    endpoint.answer = async (request) => {
      const { id } = await askedOf(service, sentIn(request).run_id);
      return json(200, remembered.get(id));
    };
    const second = await screen(taskIds());
    endpoint.answer = right;
    expect(second.map(({ status }) => status)).toEqual(tasks.map(() => "completed"));
    expect(second.filter(({ passed }) => passed).length).toBeLessThanOrEqual(LUCK);
    const texts = endpoint.seen.map((request) =>
      JSON.stringify([sentIn(request).task.prompt, sentIn(request).task.input]),
    );
    const stored = tasks.map(({ prompt, input }) => JSON.stringify([prompt, input ?? undefined]));
    expect(new Set([...texts, ...stored]).size).toBe(3 * tasks.length);
  }, 120_000);

  it("says in its evidence by what it is committed to, which nobody can open, and shows no more to its owner", async () => {
    const [run] = await screen(taskIds().slice(0, 1));
    const id = run?.id ?? "";
    const instance = await sealedInstance(service, id);
    const [epoch] = await service.sql<{ name: string; sealed: string; secret: null }>(
      "select e.* from epochs e join runs r on r.epoch = e.name where e.kind = 'sealed' and r.id = $1",
      [id],
    );
    const secret = openSecret(epoch?.sealed ?? "", TEST_KEYS);
    const salt = createHmac("sha256", secret)
      .update(canonicalize(["salt", id]) ?? "")
      .digest();
    const commitment = createHash("sha256")
      .update(salt)
      .update(canonicalize(instance) ?? "")
      .digest("hex");
    const { body: evidence } = await anonymous.call("GET", `/api/v1/runs/${id}/evidence`);
    const subject = evidence.statement.credentialSubject;
    expect(subject).toMatchObject({ instance: { epoch: epoch?.name, commitment }, task: { is_secret: true } });
    expect(subject.task.template).toEqual(instance.template);
    const shown = await owner.call("GET", `/api/v1/runs/${id}/output`);
    expect(shown.body).toMatchObject({ instance: null, request: null });
    const { body: task } = await anonymous.call("GET", `/api/v1/tasks/${tasks[0]?.id}`);
    expect(task).toMatchObject({ instances: "minted", template: instance.template, prompt: null, input: null });
    // Not even who had the secret could have it graded again.
    const again = await anonymous.call("POST", "/api/v1/evidence/regrade", {
      jws: evidence.jws,
      epoch_secret: secret.toString("hex"),
      response_base64: shown.body.response.body_base64,
      response_salt: shown.body.response.salt,
    });
    expect([again.status, again.body.code]).toEqual([422, "not_regradable"]);
    expect(again.text).not.toContain(instance.prompt.slice(0, 40));
  });

  it("takes no more round trips than one of a fixed secret task", async () => {
    const { tasks: fixed } = await addSuite(service, 1, { secret: true });
    endpoint.answer = () => json(200, { output: "42" });
    const count = async (task: string) => {
      await reserveCertification(service, agent, [task]);
      await service.settled();
      service.counters.reset();
      await carryOut(service);
      return service.counters.snapshot().db.requests;
    };
    await count(tasks[0]?.id ?? "");
    expect(await count(tasks[0]?.id ?? "")).toBe(await count(fixed[0] ?? ""));
    endpoint.answer = right;
  });

  it.each([
    ["is missing", "delete from epochs where kind = 'sealed' and name = $1"],
    ["came late into the log", "update epochs set is_timely = false where kind = 'sealed' and name = $1"],
  ])("ends as our fault, with an alarm, where the commitment to its sealed epoch %s", async (_why, sql) => {
    const before = await service.sql("select * from epochs where kind = 'sealed' and name = $1", [DAY]);
    await service.sql(sql, [DAY]);
    endpoint.seen.length = 0;
    const { runs } = await reserveCertification(service, agent, taskIds().slice(0, 1));
    for (const _attempt of range(6)) {
      await carryOut(service);
      await service.sql("update runs set lease_expires_at = now() - interval '1 second' where status = 'running'");
    }
    const { body } = await owner.call("GET", `/api/v1/runs/${runs[0]}`);
    expect(body).toMatchObject({ status: "failed", failure_code: "service_error" });
    expect(endpoint.seen).toEqual([]);
    expect(service.logs.some((line) => line.includes("no usable epoch") && line.includes(runs[0] ?? "-"))).toBe(true);
    expect((await anonymous.call("GET", "/readyz")).body).toMatchObject({ minting: "down" });
    await service.sql("delete from epochs where kind = 'sealed' and name = $1", [DAY]);
    await service.sql("insert into epochs select * from jsonb_populate_recordset(null::epochs, $1)", [
      JSON.stringify(before),
    ]);
  });

  it("is minted after a rotation, too", async () => {
    const admin = await newUser(service, { email: "admin@example.test", verified: true });
    const suite_id = tasks[0]?.suite_id ?? "";
    const rotated = await admin.call("POST", "/api/v1/tasks/secret-suites/rotate", { suite_id });
    expect(rotated.body).toMatchObject({ previous_version: 1, suite_version: 2 });
    const [task] = await tasksWhere(service, "is_secret and is_active and suite_id = $1", [suite_id]);
    const [run] = await screen([task?.id ?? ""]);
    expect(run).toMatchObject({ status: "completed", passed: true, suite_version: 2 });
    expect((await askedOf(service, run?.id ?? "")).input).not.toEqual(task?.input);
  });
});
