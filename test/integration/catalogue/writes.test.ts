import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { SAMPLES } from "../../unit/grading/support.ts";
import { addAgent, addRun, addSuite, KEY, quietQueueClient, range, startAgent, unique } from "../runs/support.ts";

const TASKS = "/api/v1/tasks";
const SUITES = "/api/v1/suites";

/** The least that a task needs. */
const LEAST = {
  title: "Six times seven",
  domain: "math",
  prompt: "What is six times seven?",
  grader: { type: "exact" },
  expected_output: KEY,
};

let service: TestService;
let admin: User;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
  admin = await newUser(service, { email: "admin@example.test", verified: true });
});

afterAll(() => service.stop());

/** Calls as the operator, from an address of its own, so that no limit is met here. */
function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  addresses += 1;
  const own = { "cf-connecting-ip": `172.23.${addresses >> 8}.${addresses & 255}` };
  return caller(service, { authorization: `Bearer ${admin.token}`, ...own }).call(method, path, body, headers);
}

const create = (fields: object = {}, headers: Record<string, string> = {}) =>
  call("POST", TASKS, { ...LEAST, ...fields }, headers);

async function suiteOf(fields: object = {}): Promise<string> {
  const slug = unique("suite").replace(" ", "-");
  const { status, body, text } = await call("POST", SUITES, { slug, name: "A suite", ...fields });
  expect(status, text).toBe(201);
  return body.id;
}

const findings = ({ body }: { body: { errors?: { pointer: string; code: string }[] } }) =>
  (body.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);

describe("a new task", () => {
  it("gets what was left out, and is read as it was answered", async () => {
    const answer = await create();
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `${TASKS}/${answer.body.id}`]);
    const { grader, expected_output: key, ...read } = answer.body;
    expect([grader, key]).toEqual([LEAST.grader, KEY]);
    expect(read).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      title: LEAST.title,
      domain: "math",
      prompt: LEAST.prompt,
      instances: "fixed",
      template: null,
      input: null,
      output_format: "text",
      output_schema: null,
      tools: null,
      grader_type: "exact",
      suite_id: null,
      suite_version: 1,
      is_active: true,
      is_secret: false,
      time_limit_ms: 60_000,
      reference_cost_usd: 0.004,
      reference_latency_ms: 6000,
      expected_tool_calls: null,
      pass_threshold: 1,
    });
    expect((await call("GET", `${TASKS}/${read.id}`)).body).toEqual(read);
  });

  it("keeps all that is given", async () => {
    const given = {
      title: "Größe “ändern”",
      domain: "tool_use",
      prompt: " Set it.\n",
      input: { a: [1, null, "x"], "/~": {} },
      output_format: "tool_calls",
      output_schema: { type: "array", items: { $ref: "#/$defs/call" }, $defs: { call: true } },
      tools: [{ name: "set.size_1-a", description: "Sets it", parameters: { type: "object", properties: {} } }],
      grader: { type: "tool_calls", order: "any", allow_extra: true },
      expected_output: [{ name: "set.size_1-a", arguments: { to: [1, null] } }],
      time_limit_ms: 1000,
      reference_cost_usd: 1e-6,
      reference_latency_ms: 1,
      expected_tool_calls: 0,
      pass_threshold: 0.001,
    };
    expect((await create(given)).body).toMatchObject(given);
  });

  it.each(SAMPLES.map((sample) => [sample.grader.type, sample] as const))(
    "may be graded by %s",
    async (type, { grader, key, schema }) => {
      const made = await create({ grader, expected_output: key, output_schema: schema ?? null });
      expect([made.status, made.body.grader, made.body.expected_output, made.text]).toEqual([
        201,
        grader,
        key,
        made.text,
      ]);
      expect(made.body.grader_type).toBe(type);
    },
  );

  it("comes last in its suite, under the suite's version, and at once in the lists that anybody reads", async () => {
    const [suite_id, before] = [await suiteOf(), await caller(service).call("GET", `${TASKS}?domain=math`)];
    await service.sql("update suites set version = 7 where id = $1", [suite_id]);
    const titles = range(8).map((index) => `Task ${index}`);
    const made = await Promise.all(titles.map((title) => create({ title, suite_id })));
    expect(made.map(({ status, body }) => [status, body.suite_version])).toEqual(titles.map(() => [201, 7]));
    const last = await create({ title: "Last", suite_id });
    const rows = await service.sql<{ id: string; position: number }>(
      "select id, position from tasks where suite_id = $1 order by position",
      [suite_id],
    );
    expect(rows.map(({ position }) => position)).toEqual(range(9).map((index) => index + 1));
    expect(rows.at(-1)?.id).toBe(last.body.id);
    const after = await caller(service).call("GET", `${TASKS}?domain=math`);
    expect(after.body.total).toBe(before.body.total + 9);
    expect((await caller(service).call("GET", `${SUITES}/${suite_id}`)).body.task_count).toBe(9);
  });

  it("is made once for one Idempotency-Key", async () => {
    const [key, title] = [{ "idempotency-key": unique("key").replace(" ", "-") }, unique("Once")];
    const [first, again] = [await create({ title }, key), await create({ title }, key)];
    expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([201, first.text, "true"]);
    expect(await service.sql("select from tasks where title = $1", [title])).toHaveLength(1);
  });

  it("of an unknown suite is 404, and made nowhere", async () => {
    const title = unique("Nowhere");
    const answer = await create({ title, suite_id: crypto.randomUUID() });
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    expect(await service.sql("select from tasks where title = $1", [title])).toEqual([]);
  });
});

describe("secrecy", () => {
  it.each([
    ["public", undefined, false],
    ["public", false, false],
    ["public", true, null],
    ["secret", undefined, true],
    ["secret", true, true],
    ["secret", false, null],
    ["no", undefined, false],
    ["no", true, true],
  ] as const)("in a %s suite, asked for as %s, is %s", async (kind, asked, expected) => {
    const suite_id = kind === "no" ? undefined : await suiteOf({ is_secret: kind === "secret" });
    const answer = await create({ suite_id, is_secret: asked });
    if (expected === null) {
      expect([answer.status, answer.body.code, findings(answer)]).toEqual([
        422,
        "conflicting_parameters",
        ["/is_secret conflicting_parameters"],
      ]);
      expect(await service.sql("select from tasks where suite_id = $1", [suite_id])).toEqual([]);
    } else expect([answer.status, answer.body.is_secret]).toEqual([201, expected]);
  });

  it("shows the operator the prompt, and nobody what says the key", async () => {
    const suite_id = await suiteOf({ is_secret: true });
    for (const { grader, key, schema } of SAMPLES) {
      const made = await create({ suite_id, grader, expected_output: key, output_schema: schema ?? null, input: [1] });
      expect([made.status, made.body.prompt, made.body.grader, made.body.expected_output]).toEqual([
        201,
        LEAST.prompt,
        { type: grader.type },
        null,
      ]);
      const hidden = { prompt: null, input: null, output_schema: null, tools: null };
      const read = (await call("GET", `${TASKS}/${made.body.id}`)).body;
      expect(read).toMatchObject(hidden);
      expect(made.body).toMatchObject({ ...hidden, prompt: LEAST.prompt });
    }
  });
});

/** What is wrong with a task, and the findings that say so. */
type Hostile = [fields: object, ...findings: string[]];

const KEYLESS = { expected_output: null };

const HOSTILE: Hostile[] = [
  [{ grader: undefined }, "/grader missing_field"],
  [{ grader: "exact" }, "/grader invalid_type"],
  [{ grader: {} }, "/grader/type invalid_union"],
  [{ grader: { type: "guess" } }, "/grader/type invalid_union"],
  [{ grader: { type: "exact", tolerance: 1 } }, "/grader/tolerance unrecognized_field"],
  [{ expected_output: null }, "/expected_output invalid_key"],
  [{ expected_output: undefined }, "/expected_output missing_field"],
  [{ grader: { type: "normalized_text", choices: ["a", "b"] } }, "/grader/choices unrecognized_field"],
  [{ grader: { type: "normalized_text" }, expected_output: ["a", "…"] }, "/expected_output/1 invalid_key"],
  [{ grader: { type: "numeric", tolerance: "1" } }, "/grader/tolerance invalid_type"],
  [{ grader: { type: "numeric", relative: true } }, "/grader/relative invalid_option"],
  [{ grader: { type: "numeric" }, expected_output: "many" }, "/expected_output invalid_key"],
  [{ grader: { type: "multiple_choice" } }, "/grader/choices missing_field"],
  [{ grader: { type: "multiple_choice", choices: [KEY] } }, "/grader/choices too_small"],
  [{ grader: { type: "multiple_choice", choices: ["a", "b"] } }, "/expected_output invalid_key"],
  [{ grader: { type: "multiple_choice", choices: [KEY, "…"] } }, "/grader/choices/1 invalid_option"],
  [{ grader: { type: "regex" }, ...KEYLESS }, "/grader/pattern missing_field"],
  [{ grader: { type: "regex", pattern: "(a)\\1" }, ...KEYLESS }, "/grader/pattern invalid_pattern"],
  [{ grader: { type: "regex", pattern: "(?=a)" }, ...KEYLESS }, "/grader/pattern invalid_pattern"],
  [{ grader: { type: "regex", pattern: "(a{900}){900}" }, ...KEYLESS }, "/grader/pattern invalid_pattern"],
  [{ grader: { type: "regex", pattern: "a" } }, "/expected_output invalid_key"],
  [{ grader: { type: "set_f1", separator: "" } }, "/grader/separator too_small"],
  [{ grader: { type: "set_f1" }, expected_output: 42 }, "/expected_output invalid_key"],
  [{ grader: { type: "json_fields" } }, "/expected_output invalid_key"],
  [
    { grader: { type: "json_fields", fields: { b: {} }, unordered: ["a"] }, expected_output: { a: 1 } },
    "/grader/fields/b invalid_option",
    "/grader/unordered/0 invalid_option",
  ],
  [{ grader: { type: "json_schema" }, ...KEYLESS }, "/output_schema invalid_schema"],
  [{ grader: { type: "json_schema" }, output_schema: true }, "/expected_output invalid_key"],
  [{ grader: { type: "tool_calls" }, expected_output: [] }, "/grader/order invalid_value"],
  [
    { grader: { type: "tool_calls", order: "any" }, expected_output: [{ name: "x", arguments: { a: 1 } }] },
    "/expected_output/0/arguments/a invalid_key",
  ],
  [
    {
      grader: { type: "tool_calls", order: "any" },
      expected_output: [{ name: "other", arguments: {} }],
      tools: [{ name: "one", description: "", parameters: {} }],
    },
    "/expected_output/0/name invalid_key",
  ],
  [{ grader: { type: "constraints", rules: [] }, ...KEYLESS }, "/grader/rules too_small"],
  [{ grader: { type: "constraints", rules: [{ kind: "bullets" }] }, ...KEYLESS }, "/grader/rules/0/n missing_field"],
  [{ grader: { type: "refusal" }, expected_output: "true" }, "/expected_output invalid_key"],
  [{ grader: { type: "refusal", key: true }, expected_output: true }, "/grader/key unrecognized_field"],
  [{ output_schema: { $ref: "https://example.com/s.json" } }, "/output_schema/$ref invalid_schema"],
  [{ output_schema: { unevaluatedItems: false } }, "/output_schema/unevaluatedItems invalid_schema"],
  [{ output_schema: { items: { pattern: "(?!a)" } } }, "/output_schema/items/pattern invalid_schema"],
  [{ tools: [{ name: "a", description: "" }] }, "/tools/0/parameters missing_field"],
  [{ tools: [{ name: "a b", description: "", parameters: {} }] }, "/tools/0/name invalid_format"],
  [{ tools: range(2).map(() => ({ name: "a", description: "", parameters: {} })) }, "/tools not_unique"],
  [{ tools: range(65).map((index) => ({ name: `a${index}`, description: "", parameters: {} })) }, "/tools too_big"],
  [{ tools: [{ name: "a", description: "", parameters: { "/~": 1 } }] }, "/tools/0/parameters/~1~0 invalid_schema"],
  [{ title: " " }, "/title too_small"],
  [{ title: "a\nb" }, "/title invalid_format"],
  [{ title: "x".repeat(201) }, "/title too_big"],
  [{ domain: "cooking" }, "/domain invalid_value"],
  [{ prompt: " \n" }, "/prompt invalid_format"],
  [{ prompt: "x".repeat(32_769) }, "/prompt too_big"],
  [{ input: "ü".repeat(32_768) }, "/input too_big"],
  [{ expected_output: "x".repeat(32_767) }, "/expected_output too_big"],
  [{ output_format: "xml" }, "/output_format invalid_value"],
  [{ time_limit_ms: 999 }, "/time_limit_ms too_small"],
  [{ time_limit_ms: 120_001 }, "/time_limit_ms too_big"],
  [{ pass_threshold: 0 }, "/pass_threshold too_small"],
  [{ reference_cost_usd: 0 }, "/reference_cost_usd too_small"],
  [{ suite_id: "core" }, "/suite_id invalid_format"],
  [{ id: crypto.randomUUID(), position: 1 }, "/id unrecognized_field", "/position unrecognized_field"],
];

describe("a task that can't be graded or kept", () => {
  it("is 422 with what is wrong and where", async () => {
    const before = await service.sql("select count(*) from tasks");
    for (const [fields, ...expected] of HOSTILE) {
      const answer = await create(fields);
      expect([JSON.stringify(fields), answer.status, findings(answer)]).toEqual([
        JSON.stringify(fields),
        422,
        expected,
      ]);
    }
    expect(await service.sql("select count(*) from tasks")).toEqual(before);
  });
});

describe("a new suite", () => {
  it("is empty, in version 1, at its Location, and at once in the public list", async () => {
    const list = () => caller(service).call("GET", `${SUITES}?page_size=100`);
    await list();
    const made = await call("POST", SUITES, { slug: "a-1", name: " Named " });
    const suite = { slug: "a-1", name: "Named", description: "", version: 1, is_secret: false, task_count: 0 };
    expect([made.status, made.body]).toEqual([201, { id: expect.any(String), ...suite, domains: [] }]);
    expect(made.headers.get("location")).toBe(`${SUITES}/${made.body.id}`);
    expect((await list()).body.items).toContainEqual(made.body);
  });

  it("of one slug is made once of 8 at once", async () => {
    const answers = await Promise.all(range(8).map(() => call("POST", SUITES, { slug: "same", name: "Same" })));
    const kinds = answers.map(({ status, body }) => `${status} ${body.code ?? ""}`).toSorted();
    expect(kinds).toEqual(["201 ", ...range(7).map(() => "409 duplicate_name")]);
    expect((await call("POST", SUITES, { slug: "core", name: "Core" })).status).toBe(409);
  });

  it.each(["", "A", "a b", "-a", "a-", "a--b", "a_b", "ä", "x".repeat(65)])("is 422 with the slug %j", async (slug) => {
    const answer = await call("POST", SUITES, { slug, name: "A" });
    expect([answer.status, new Set(answer.body.errors.map((one: { pointer: string }) => one.pointer))]).toEqual([
      422,
      new Set(["/slug"]),
    ]);
  });
});

describe("retiring", () => {
  const retire = (id: string) => call("POST", `${TASKS}/${id}/retire`);

  it("is told by one of 10 calls at once, and by none after", async () => {
    const { id } = (await create()).body;
    const answers = await Promise.all(range(10).map(() => retire(id)));
    const result = (was_active: boolean) => ({ task_id: id, is_active: false, was_active });
    expect(answers.filter(({ body }) => body["was_active"]).map(({ body }) => body)).toEqual([result(true)]);
    expect([(await retire(id)).body, (await retire(id)).status]).toEqual([result(false), 200]);
    const [row] = await service.sql<{ retired_at: Date | null }>("select retired_at from tasks where id = $1", [id]);
    expect(row?.retired_at).toBeInstanceOf(Date);
  });

  it("takes a task out of the list at once, and leaves it readable", async () => {
    const { id, ...task } = (await create({ domain: "planning" })).body;
    const listed = async () =>
      (await caller(service).call("GET", `${TASKS}?domain=planning&page_size=100`)).body.items.map(
        (one: { id: string }) => one.id,
      );
    expect(await listed()).toContain(id);
    await retire(id);
    expect(await listed()).not.toContain(id);
    expect((await caller(service).call("GET", `${TASKS}/${id}`)).body).toMatchObject({
      title: task.title,
      is_active: false,
    });
  });

  it("is 404 for no task", async () => {
    const answer = await retire(crypto.randomUUID());
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });
});

describe("runs and boards", () => {
  let agent: string;
  let endpoint: Consumer;
  let owner: User;

  beforeAll(async () => {
    owner = await newUser(service, { plan: "pro" });
    endpoint = await startAgent();
    agent = await addAgent(owner, { endpoint: endpoint.url });
  });

  afterAll(() => endpoint.stop());

  it("carry out a run that was reserved before its task was retired, and reserve none after", async () => {
    const { id } = (await create()).body;
    quietQueueClient();
    service.faults.set({ service: "qstash", mode: "error" });
    const run = await addRun(owner, agent, id);
    await service.settled();
    service.faults.set({ service: "qstash", mode: "none" });
    await call("POST", `${TASKS}/${id}/retire`);
    const refused = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: id });
    expect([refused.status, refused.body.code]).toEqual([422, "task_unavailable"]);
    await service.sql("update outbox set due_at = now()");
    await service.app.scheduled("* * * * *");
    await service.settled();
    expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({ status: "completed", passed: true });
  });

  it("take a task that joins or leaves the suite core in with the nightly recomputation", async () => {
    await service.sql(
      "update tasks set is_active = false where suite_id = (select id from suites where slug = 'core')",
    );
    const { id: suite_id } = await addSuite(service, 0, { slug: "core" });
    const first = (await create({ suite_id })).body.id;
    await addRun(owner, agent, first);
    await service.settled();
    const basis = async () => (await owner.call("GET", `/api/v1/agents/${agent}`)).body.score_basis;
    expect(await basis()).toBe("core");
    const second = (await create({ suite_id, title: "Another" })).body.id;
    await service.app.scheduled(DAILY);
    expect(await basis(), "it has no run of the new one").toBe("provisional");
    await call("POST", `${TASKS}/${second}/retire`);
    await service.app.scheduled(DAILY);
    expect(await basis()).toBe("core");
  });
});
