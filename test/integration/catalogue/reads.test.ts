import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DOMAINS } from "../../../shared/catalogue/domains.ts";
import { type Answer, type Caller, caller, newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const TASK_FIELDS = [
  "id title domain instances template prompt input output_format output_schema tools grader_type suite_id suite_version is_active is_secret",
  "time_limit_ms reference_cost_usd reference_latency_ms expected_tool_calls pass_threshold created_at",
].flatMap((line) => line.split(" "));

interface Task {
  id: string;
  domain: string;
  is_secret: boolean;
  suite_id: string;
  [field: string]: unknown;
}

let service: TestService;
let reader: Caller;
let tasks: Task[];
let texts: string[];

beforeAll(async () => {
  service = await startService();
  reader = caller(service);
  [tasks, texts] = await readAll("");
});

afterAll(() => service.stop());

/** Every task of the list, page by page, and the pages as they came. */
async function readAll(query: string, by = reader): Promise<[Task[], string[]]> {
  const [items, pages]: [Task[], string[]] = [[], []];
  for (let path: string | undefined = `/api/v1/tasks?page_size=100${query}`; path !== undefined; ) {
    const answer: Answer<{ items: Task[] }> = await by.call("GET", path);
    expect(answer.status).toBe(200);
    items.push(...answer.body.items);
    pages.push(answer.text);
    path = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1]?.slice(service.url.length);
  }
  return [items, pages];
}

const active = (where = "true") =>
  service.sql<{ id: string }>(`select id from tasks where is_active and ${where} order by id`);

describe("the list of tasks", () => {
  it("holds every active task once, with exactly the fields of TaskRead", async () => {
    expect(tasks.map(({ id }) => id).toSorted()).toEqual((await active()).map(({ id }) => id));
    for (const task of tasks) expect(Object.keys(task).toSorted()).toEqual(TASK_FIELDS.toSorted());
  });

  it.each(DOMAINS)("is narrowed to a domain: %s", async (domain) => {
    const [found] = await readAll(`&domain=${domain}`);
    expect(found.map(({ id }) => id).toSorted()).toEqual((await active(`domain = '${domain}'`)).map(({ id }) => id));
    expect(found.length).toBeGreaterThanOrEqual(4);
  });

  it.each(["", "Math", "cooking", "math,coding"])("is 422 for a domain that is none: %j", async (domain) => {
    const { status, body } = await reader.call("GET", `/api/v1/tasks?domain=${domain}`);
    expect([status, body.errors]).toMatchObject([422, [{ in: "query", pointer: "/domain" }]]);
  });

  it("leaves out a task that was retired, which can still be read by its id", async () => {
    const { id } = tasks.at(-1) as Task;
    await service.sql("update tasks set is_active = false, retired_at = now() where id = $1", [id]);
    // Only answers to callers without credentials are kept.
    const { items } = (await (await newUser(service)).call("GET", "/api/v1/tasks?page_size=100")).body;
    expect(items.map((task: Task) => task.id)).not.toContain(id);
    const read = await reader.call("GET", `/api/v1/tasks/${id}`);
    expect([read.status, read.body.is_active]).toEqual([200, false]);
    await service.sql("update tasks set is_active = true, retired_at = null where id = $1", [id]);
  });
});

describe("a secret task", () => {
  it("shows neither prompt, input, schema nor tools, to nobody and to no account", async () => {
    const user = await newUser(service, { email: "admin@example.test", verified: true });
    const secret = tasks.filter(({ is_secret }) => is_secret);
    expect(secret.length).toBeGreaterThan(0);
    for (const { id } of secret.slice(0, 5)) {
      for (const by of [reader, user]) {
        const { status, body } = await by.call("GET", `/api/v1/tasks/${id}`);
        expect([status, body]).toMatchObject([200, { prompt: null, input: null, output_schema: null, tools: null }]);
      }
    }
    for (const task of secret) {
      expect(task).toMatchObject({ prompt: null, input: null, output_schema: null, tools: null });
    }
  });

  it("has no word of its prompt, input or key in any public answer", async () => {
    const rows = await service.sql<{ title: string; prompt: string; input: unknown; expected_output: unknown }>(
      "select title, prompt, input, expected_output from tasks where is_secret",
    );
    const suites = await reader.call("GET", "/api/v1/suites?page_size=100");
    const said = [...texts, suites.text, (await reader.call("GET", "/openapi.json")).text].join("\n");
    for (const { prompt, input, expected_output: key } of rows) {
      // Short keys such as a number occur anywhere by chance.
      const hidden = [prompt, JSON.stringify(input), JSON.stringify(key)].filter(
        (text) => text !== "null" && text.length > 20,
      );
      for (const text of hidden) expect(said.includes(JSON.stringify(text).slice(1, -1))).toBe(false);
    }
  });

  it("is the only kind without a prompt, and no task gives its key or grader away", () => {
    for (const { prompt, is_secret } of tasks) expect(prompt === null).toBe(is_secret);
    for (const text of texts) expect(text).not.toMatch(/"(expected_output|grader)"/);
  });
});

describe("reading one", () => {
  it("gives the item of the list", async () => {
    const task = tasks[0] as Task;
    expect((await reader.call("GET", `/api/v1/tasks/${task.id}`)).body).toEqual(task);
    const { items } = (await reader.call("GET", "/api/v1/suites")).body;
    expect((await reader.call("GET", `/api/v1/suites/${items[0].id}`)).body).toEqual(items[0]);
  });

  it.each(["tasks", "suites"])("is 404 for an unknown id: %s", async (kind) => {
    const answer = await reader.call("GET", `/api/v1/${kind}/${crypto.randomUUID()}`);
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });
});

describe("suites", () => {
  it("tell how many active tasks of which domains they hold, and core is the standard", async () => {
    const { items, total } = (await reader.call("GET", "/api/v1/suites?page_size=100")).body;
    expect(items).toHaveLength(total);
    for (const suite of items) {
      const own = tasks.filter(({ suite_id }) => suite_id === suite.id);
      expect(Object.keys(suite).toSorted()).toEqual(
        ["id", "slug", "name", "description", "version", "is_secret", "task_count", "domains"].toSorted(),
      );
      expect(suite.task_count).toBe(own.length);
      expect(suite.domains.toSorted()).toEqual([...new Set(own.map(({ domain }) => domain))].toSorted());
      if (suite.is_secret) expect(own.every(({ is_secret }) => is_secret)).toBe(true);
    }
    const core = items.find(({ slug }: { slug: string }) => slug === "core");
    expect(core).toMatchObject({ is_secret: false, task_count: 40 });
    expect(core.domains.toSorted()).toEqual([...DOMAINS].toSorted());
  });
});
