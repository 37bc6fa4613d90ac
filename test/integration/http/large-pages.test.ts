import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { LEAST, SUBMISSIONS } from "../catalogue/submissions-support.ts";
import { addAgent, addSuite } from "../runs/support.ts";

/** SQL: what takes a megabyte, more than any of these rows may take now: some have it from before that was bounded. */
const PLAIN = "repeat('x', 1000000)";
/** SQL: the same, which takes twice as much in an answer of the database. */
const QUOTED = `repeat('"', 500000)`;
const tools = (description: string) =>
  `jsonb_build_array(jsonb_build_object('name', 'a', 'description', ${description}, 'parameters', '{}'::jsonb))`;

let service: TestService;
let operator: User;
let owner: User;

beforeAll(async () => {
  service = await startService();
  operator = await newUser(service, { email: "admin@example.test", verified: true });
  owner = await newUser(service, { plan: "enterprise" });
});

afterAll(() => service.stop());

/** The titles or names of a list, and how often the database was asked for them. */
async function listed(by: Pick<User, "call">, path: string) {
  await service.settled();
  service.counters.reset();
  const { status, body, text } = await by.call("GET", path);
  expect(status, text.slice(0, 500)).toBe(200);
  const names: string[] = body.items.map(({ title, name }: { title?: string; name?: string }) => title ?? name);
  return { names, total: body.total, asked: service.counters.snapshot().db.requests };
}

/** The names of rows that are numbered, from one to another. */
const names = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_none, index) => `No. ${from + index}`);

describe("a page is whole, however much its items hold:", () => {
  it("of proposals, for operators and for who made them", async () => {
    const rest = `'input', null, 'output_format', 'text', 'output_schema', null, 'expected_tool_calls', null,
      'time_limit_ms', 60000, 'pass_threshold', 1`;
    await service.sql(
      `insert into task_submissions (id, submitter_id, task)
       select uuidv7(make_interval(mins => -n)), $1,
         $2::jsonb || jsonb_build_object('title', 'No. ' || n, 'tools', ${tools(QUOTED)}, ${rest})
       from generate_series(1, 6) n`,
      [owner.id, JSON.stringify(LEAST)],
    );
    expect(await listed(operator, `${SUBMISSIONS}?page_size=100`)).toEqual({ names: names(1, 6), total: 6, asked: 3 });
    expect((await listed(owner, `${SUBMISSIONS}/mine?page_size=100`)).names).toEqual(names(1, 6));
    // As many as fit into one answer are asked for once.
    const three = await listed(operator, `${SUBMISSIONS}?page_size=3&page=2`);
    const one = await listed(operator, `${SUBMISSIONS}?page_size=1`);
    expect([three.names, three.asked - one.asked]).toEqual([names(4, 6), 0]);
  });

  it("of tasks", async () => {
    const { id } = await addSuite(service, 0);
    await service.sql(
      `insert into tasks
         (suite_id, position, title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms, tools)
       select $1, n, 'No. ' || n, 'math', 'What?', 'text', '{"type": "exact"}', 0.002, 2000, ${tools(PLAIN)}
       from generate_series(1, 12) n`,
      [id],
    );
    const page = await listed(caller(service), `/api/v1/tasks?suite_id=${id}&page_size=100`);
    expect(page).toMatchObject({ names: names(1, 12), total: 12 });
  });

  it("of agents, for who sees what they are made of", async () => {
    await service.sql(
      `insert into agents (user_id, name, connection_mode, declared_configuration, created_at)
       select $1, 'No. ' || n, 'mock', jsonb_build_object('x', ${PLAIN}), now() - make_interval(mins => n)
       from generate_series(1, 12) n`,
      [owner.id],
    );
    expect(await listed(owner, "/api/v1/agents?page_size=100")).toMatchObject({ names: names(1, 12), total: 12 });
    const named = await listed(owner, "/api/v1/agents?page_size=100&q=no.&sort=created_at");
    expect(named.names).toEqual(names(1, 12).toReversed());
  });
});

describe("what is new takes at most 64 KiB of JSON:", () => {
  const pointersOf = (body: { errors?: { pointer: string; code: string }[] }) =>
    body.errors?.map(({ pointer, code }) => `${pointer} ${code}`);
  /** Tools of so many bytes. */
  const toolsOf = (bytes: number) => {
    const one = { name: "a", description: "", parameters: { description: "" } };
    const rest = bytes - JSON.stringify([one]).length;
    return [{ ...one, parameters: { description: "x".repeat(rest) } }];
  };

  it("the tools of a task, and of a proposal", async () => {
    for (const path of ["/api/v1/tasks", SUBMISSIONS]) {
      expect((await operator.call("POST", path, { ...LEAST, tools: toolsOf(65_536) })).status).toBe(201);
      const { status, body } = await operator.call("POST", path, { ...LEAST, tools: toolsOf(65_537) });
      expect([path, status, pointersOf(body)]).toEqual([path, 422, ["/tools too_big"]]);
    }
  });

  it("what an agent is made of, also when it is changed and among many", async () => {
    const declared = (bytes: number) => ({ x: "x".repeat(bytes - 8) });
    const id = await addAgent(owner, { declared_configuration: declared(65_536) });
    const tooMuch = { declared_configuration: declared(65_537) };
    const created = await owner.call("POST", "/api/v1/agents", { name: "Large", ...tooMuch });
    const changed = await owner.call("PATCH", `/api/v1/agents/${id}`, tooMuch);
    for (const { status, body } of [created, changed])
      expect([status, pointersOf(body)]).toEqual([422, ["/declared_configuration too_big"]]);
    const bulk = await owner.call("POST", "/api/v1/agents/bulk", { rows: [{ name: "Large", ...tooMuch }] });
    expect([bulk.status, bulk.body.results[0].status, pointersOf(bulk.body.results[0])]).toEqual([
      200,
      "invalid",
      ["/declared_configuration too_big"],
    ]);
  });

  it("numbers written out, as they are kept", async () => {
    // 600 bytes as they are sent, 32 KB as they are kept, and twice as much.
    const [few, many] = [100, 300].map((count) => Array.from({ length: count }, () => 1e300));
    expect((await operator.call("POST", "/api/v1/tasks", { ...LEAST, input: few })).status).toBe(201);
    const { status, body } = await operator.call("POST", "/api/v1/tasks", { ...LEAST, input: many });
    expect([status, pointersOf(body)]).toEqual([422, ["/input too_big"]]);
  });
});
