import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { act, type Action, ACTIONS, call, newSubmission } from "./submissions-support.ts";
import { addAgent, addRun, addSuite, range, startAgent } from "../runs/support.ts";

const STATES = ["pending", "approved", "rejected", "withdrawn"] as const;
const DAY_MS = 86_400_000;

type State = (typeof STATES)[number];

let service: TestService;
let admin: User;
let submitter: User;
let stranger: User;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  admin = await newUser(service, { email: "admin@example.test", verified: true });
  submitter = await newUser(service);
  stranger = await newUser(service, { verified: true });
  // Without the shipped tasks, each proposal is compared with those of this file alone.
  await service.sql("update tasks set is_active = false");
});

afterAll(() => service.stop());

const submitted = (fields: object = {}, by = submitter) => newSubmission(by, fields);

/** Who may do what to a submission of `submitter`. */
const actorOf = (action: Action): User => (action === "withdraw" ? submitter : admin);

/** A submission brought to this state. */
async function inState(state: State): Promise<string> {
  const id = await submitted();
  const action = ({ approved: "approve", rejected: "reject", withdrawn: "withdraw" } as const)[state as "approved"];
  if (state !== "pending") expect((await act(action, id, actorOf(action))).status).toBe(200);
  return id;
}

/** What is kept of a submission, and what came of it. */
async function effectsOf(id: string) {
  await service.settled();
  const [row] = await service.sql<{ status: State; title: string; task_id: string | null; minted: number }>(
    `select s.*, s.task ->> 'title' as title, (select count(*)::int from tasks t where t.title = s.task ->> 'title') as minted
     from task_submissions s where id = $1`,
    [id],
  );
  if (row === undefined) throw new Error("no such submission");
  const mails = service.mailbox.list().filter(({ text }) => text.includes(`“${row.title}”`));
  return { row, mails };
}

/** What an action makes of a state, by who may take it; a closed one is 409. */
const TABLE: Record<State, Record<Action, State | "closed">> = {
  pending: { approve: "approved", reject: "rejected", withdraw: "withdrawn" },
  approved: { approve: "approved", reject: "closed", withdraw: "approved" },
  rejected: { approve: "closed", reject: "rejected", withdraw: "rejected" },
  withdrawn: { approve: "closed", reject: "closed", withdraw: "withdrawn" },
};
const CASES = STATES.flatMap((state) => ACTIONS.map((action) => [state, action, TABLE[state][action]] as const));

describe("states", () => {
  it.each(CASES)("%s, then %s: %s", async (state, action, next) => {
    const id = await inState(state);
    const before = await effectsOf(id);
    const answer = await act(action, id, actorOf(action));
    const { row, mails } = await effectsOf(id);
    const final = next === "closed" ? state : next;
    if (next === "closed") expect([answer.status, answer.body.code]).toEqual([409, "submission_closed"]);
    else {
      expect([answer.status, answer.body]).toMatchObject([200, { id, status: next, task_id: row.task_id }]);
      expect(answer.body.rejection_reason).toBe(next === "rejected" ? "Too easy" : null);
      expect(answer.body.reviewed_at === null).toBe(final === "pending" || final === "withdrawn");
    }
    if (state !== "pending") expect(row).toEqual(before.row);
    expect([row.status, row.minted, row.task_id === null]).toEqual([
      final,
      final === "approved" ? 1 : 0,
      final !== "approved",
    ]);
    expect(mails.map(({ to }) => to)).toEqual(["approved", "rejected"].includes(final) ? [submitter.email] : []);
  });

  it.each(ACTIONS)("are no matter of others: %s", async (action) => {
    for (const state of STATES) {
      const id = await inState(state);
      const { row } = await effectsOf(id);
      const others = action === "withdraw" ? [stranger, admin] : [stranger, submitter];
      for (const by of others) {
        const { status, body } = await act(action, id, by);
        expect([status, body.code]).toEqual(action === "withdraw" ? [404, "not_found"] : [403, "forbidden"]);
      }
      expect((await effectsOf(id)).row).toEqual(row);
    }
    const { status, body } = await act(action, crypto.randomUUID(), actorOf(action));
    expect([status, body.code]).toEqual([404, "not_found"]);
  });

  it("of one submission that is approved, rejected and withdrawn at once come to exactly one end", async () => {
    for (const first of range(6)) {
      const id = await submitted();
      // As long as this holds the row, whoever decides about it queues up.
      const held = service.sql(
        "select pg_sleep(0.1) from (select from task_submissions where id = $1 for update) held",
        [id],
      );
      const order = range(9).map((index) => ACTIONS[(first + index) % 3] as Action);
      const answers = await Promise.all(
        order.map(async (action) => ({ action, ...(await act(action, id, actorOf(action))) })),
      );
      await held;
      const { row, mails } = await effectsOf(id);
      expect(row.status).not.toBe("pending");
      for (const { action, status, body } of answers) {
        const next = TABLE[row.status][action];
        expect([action, status, body["status"]]).toEqual(
          next === "closed" ? [action, 409, 409] : [action, 200, row.status],
        );
        if (next !== "closed") expect(body["task_id"]).toBe(row.task_id);
      }
      expect(row.minted).toBe(row.status === "approved" ? 1 : 0);
      expect(mails).toHaveLength(row.status === "withdrawn" ? 0 : 1);
    }
  });
});

describe("approval", () => {
  it("mints the task that was proposed, at the end of the suite that is named, and agents are graded on it", async () => {
    const suite = await addSuite(service, 2);
    await service.sql("update suites set version = 3 where id = $1", [suite.id]);
    const proposed = {
      input: { a: 6, b: 7 },
      output_format: "json",
      output_schema: { type: "object" },
      grader: { type: "json_fields", fields: { product: { tolerance: 0.5 } } },
      expected_output: { product: 42 },
      pass_threshold: 0.5,
      expected_tool_calls: 2,
    };
    const id = await submitted({ ...proposed, time_limit_ms: 5000 });
    const { body } = await act("approve", id, admin, {
      suite_id: suite.id,
      time_limit_ms: 9000,
      reference_cost_usd: 0.5,
    });
    const { expected_output: key, grader, ...shown } = proposed;
    const [task] = await service.sql("select * from tasks where id = $1", [body.task_id]);
    expect(task).toMatchObject({ ...proposed, position: 3, suite_version: 3, is_secret: false, is_active: true });
    const read = await call(caller(service), "GET", `/api/v1/tasks/${body.task_id}`);
    const places = { suite_id: suite.id, suite_version: 3, time_limit_ms: 9000, reference_cost_usd: 0.5 };
    expect(read.body).toMatchObject({ ...shown, ...places, grader_type: grader.type, reference_latency_ms: 6000 });
    const endpoint = await startAgent(() => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ output: key }),
    }));
    const agent = await addAgent(submitter, { endpoint: endpoint.url });
    const run = await addRun(submitter, agent, body.task_id);
    await service.settled();
    expect((await call(submitter, "GET", `/api/v1/runs/${run}`)).body).toMatchObject({
      status: "completed",
      passed: true,
      correctness: 1,
      suite_id: suite.id,
      suite_version: 3,
    });
    await endpoint.stop();
  });

  it.each([
    ["an unknown suite", () => crypto.randomUUID(), undefined, 404, "not_found"],
    ["a public suite, as secret", async () => (await addSuite(service, 0)).id, true, 422, "conflicting_parameters"],
    [
      "a secret suite, as open",
      async () => (await addSuite(service, 0, { secret: true })).id,
      false,
      422,
      "conflicting_parameters",
    ],
  ] as const)("into %s is refused, and leaves it pending", async (_what, suiteOf, is_secret, status, code) => {
    const id = await submitted();
    const answer = await act("approve", id, admin, { suite_id: await suiteOf(), is_secret });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    const { row, mails } = await effectsOf(id);
    expect([row.status, row.minted, mails]).toEqual(["pending", 0, []]);
  });

  it("into a secret suite makes a secret task", async () => {
    const suite = await addSuite(service, 0, { secret: true });
    const { body } = await act("approve", await submitted(), admin, { suite_id: suite.id });
    const read = await call(submitter, "GET", `/api/v1/tasks/${body.task_id}`);
    expect(read.body).toMatchObject({ is_secret: true, prompt: null });
  });

  it("is in the public list at once", async () => {
    const total = async () => (await caller(service).call("GET", "/api/v1/tasks?domain=math")).body.total;
    const before = await total();
    await act("approve", await submitted(), admin);
    expect(await total()).toBe(before + 1);
  });
});

describe("the mail about a decision", () => {
  it("tells the reason, with no way out of the text", async () => {
    const hostile = `<b>"it's"</b> & <script>alert(1)</script>`;
    const id = await submitted({ title: hostile });
    await act("reject", id, admin, { reason: `${hostile}\nSecond line` });
    const { mails } = await effectsOf(id);
    const [mail] = mails;
    expect(mail).toMatchObject({ to: submitter.email, subject: "Your task was not accepted" });
    expect(mail?.text).toContain(`“${hostile}”`);
    expect(mail?.text).toContain(`${hostile}\nSecond line\n`);
    expect(mail?.html).not.toMatch(/<b>|<script/);
    expect(mail?.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;\nSecond line</blockquote>");
    const approved = await submitted();
    await act("approve", approved, admin);
    expect((await effectsOf(approved)).mails).toMatchObject([{ subject: "Your task was approved" }]);
  });

  it.each([[{}], [{ reason: " " }], [{ reason: "x".repeat(1001) }], [{ reason: null }], [{ reason: "a", why: "b" }]])(
    "is not owed for a rejection by %j, which is 422",
    async (body) => {
      const id = await submitted();
      expect((await act("reject", id, admin, body)).status).toBe(422);
      expect((await effectsOf(id)).row.status).toBe("pending");
    },
  );

  it("comes though the queue was down when it was decided", async () => {
    const id = await submitted();
    service.faults.set({ service: "qstash", mode: "hang", ms: 10 });
    expect((await act("reject", id, admin)).status).toBe(200);
    service.faults.set({ service: "qstash", mode: "none" });
    await service.sql("update outbox set due_at = now()");
    await service.app.scheduled("* * * * *");
    expect((await effectsOf(id)).mails).toHaveLength(1);
  });
});

describe("an account that is deleted", () => {
  it("takes its submissions along, and leaves the tasks that were made of them and others' reviews", async () => {
    const gone = await newUser(service, { plan: "pro" });
    const approved = await submitted({}, gone);
    const taskId = (await act("approve", approved, admin)).body.task_id;
    await submitted({}, gone);
    const reviewed = await inState("rejected");
    await service.sql("update task_submissions set reviewer_id = $1 where id = any($2)", [
      gone.id,
      [reviewed, approved],
    ]);
    expect((await call(gone, "POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
    ahead = 14 * DAY_MS + 1000;
    await service.app.scheduled("17 3 * * *");
    expect(await service.sql("select from task_submissions where submitter_id = $1", [gone.id])).toEqual([]);
    expect(await service.sql("select id, is_active from tasks where id = $1", [taskId])).toEqual([
      { id: taskId, is_active: true },
    ]);
    expect(await service.sql("select status, reviewer_id from task_submissions where id = $1", [reviewed])).toEqual([
      { status: "rejected", reviewer_id: null },
    ]);
  });
});
