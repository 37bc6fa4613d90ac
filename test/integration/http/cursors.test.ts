import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent } from "../runs/support.ts";

const RUNS = 45;

let service: TestService;
let owner: User;
let stranger: User;
let team: string;
let agent: string;
let webhook: string;
let session: string;

/** Adds runs of the agent, deliveries of the webhook, and what happens in the workspace: all newer than what is there. */
const more = (n: number) =>
  service.sql(
    `with r as (
      insert into runs (id, created_at, agent_id, task_id, user_id, status, trigger, scope, team_id, latency_ms, screening_session_id)
      select uuidv7_at(x.at, n), x.at, $1, t.id, $2, 'completed', 'api', 'team', $3, nullif(n * 37 % 11, 4), case when n % 3 = 0 then $5::uuid end
      from generate_series(1, $6) n, (select clock_timestamp()::timestamptz(3) as at offset 0) x, (select id from tasks where not is_secret order by id limit 1) t returning id
    ), e as (insert into webhook_events (type, body) values ('run.completed', '{}') returning id)
    insert into webhook_deliveries (webhook_id, event_id, attempt, status)
      select $4, e.id, n, 'succeeded' from e, generate_series(1, $6) n`,
    [agent, owner.id, team, webhook, session, n],
  );

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "team" });
  stranger = await newUser(service, { plan: "pro" });
  team = (await owner.call("POST", "/api/v1/teams", { name: "Cursors" })).body.id;
  agent = await addAgent(owner, { team_id: team });
  for (const name of ["zebra", "Apple", "mango", "apple pie"]) await addAgent(owner, { name });
  const [hook] = await service.sql<{ id: string }>(
    "insert into webhooks (user_id, url, event_types) values ($1, 'https://cursors.example/', '{run.completed}') returning id",
    [owner.id],
  );
  webhook = hook?.id ?? "";
  const [made] = await service.sql<{ id: string }>(
    `insert into screening_sessions (agent_id, user_id, team_id, trigger, task_plan, repeats)
     values ($1, $2, $3, 'manual', '[]', 1) returning id`,
    [agent, owner.id, team],
  );
  session = made?.id ?? "";
  await more(RUNS);
}, 60_000);

afterAll(() => service.stop());

const LISTS = [
  ["runs", () => "runs?mine=true"],
  ["runs, oldest first", () => "runs?mine=true&sort=created_at"],
  ["an agent's runs by state", () => `runs?agent_id=${agent}&status=completed`],
  ["deliveries", () => `webhooks/${webhook}/deliveries?status=succeeded`],
  ["activity", () => `teams/${team}/activity?`],
] as const;

interface Slice {
  items: Record<string, unknown>[];
  next_cursor: string | null;
}

async function slice(path: string, cursor: string, who: Caller = owner): Promise<Slice> {
  const { status, body, text } = await who.call("GET", `/api/v1/${path}&cursor=${encodeURIComponent(cursor)}`);
  expect(status, text).toBe(200);
  expect(Object.keys(body).toSorted()).toEqual(["items", "next_cursor", "page_size"]);
  return body;
}

/** What an item is told apart by. */
const keyOf = (item: Record<string, unknown>) =>
  JSON.stringify([
    item["kind"],
    item["id"] ?? item["run_id"] ?? item["screening_session_id"] ?? item["agent_id"],
    item["user_id"],
  ]);

describe.each(LISTS)("%s read by cursor", (name, path) => {
  it("are those that pages show, each once and in order, while others are added at the same time", async () => {
    const pages = await Promise.all(
      [1, 2, 3].map((page) => owner.call("GET", `/api/v1/${path()}&page_size=100&page=${page}`)),
    );
    const before = pages.flatMap(({ body }) => body.items.map(keyOf));
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const from: string = cursor;
      const [{ items, next_cursor }] = await Promise.all([
        slice(`${path()}&page_size=7`, from),
        ...(seen.length < 30 ? [more(1), more(2)] : []),
      ]);
      expect(items.length === 7 || next_cursor === null).toBe(true);
      seen.push(...items.map(keyOf));
      cursor = next_cursor;
    }
    expect(new Set(seen).size).toBe(seen.length);
    const known = new Set(before);
    expect(seen.filter((key) => known.has(key))).toEqual(before);
    // Newer ones can only follow where the newest come last, or come before the first slice was read.
    if (name !== "runs, oldest first") expect(seen.slice(7).every((key) => known.has(key))).toBe(true);
  });

  it("take one statement a slice", async () => {
    await service.settled();
    const { next_cursor: next } = await slice(`${path()}&page_size=5`, "");
    await service.settled();
    service.counters.reset();
    await slice(`${path()}&page_size=5`, next ?? "");
    expect(service.counters.db).toEqual({ requests: 1, statements: 1 });
  });
});

describe("a cursor is of one list, its filters and one caller", () => {
  it.each([
    ["another filter", (cursor: string) => `runs?mine=true&status=completed&cursor=${cursor}`],
    ["a filter less", (cursor: string) => `runs?cursor=${cursor}`],
    ["another order", (cursor: string) => `runs?mine=true&sort=created_at&cursor=${cursor}`],
    ["another list", (cursor: string) => `teams/${team}/activity?cursor=${cursor}`],
    [
      "a letter changed",
      (cursor: string) =>
        `runs?mine=true&cursor=${cursor.slice(0, 30)}${cursor[30] === "A" ? "B" : "A"}${cursor.slice(31)}`,
    ],
    ["a part", (cursor: string) => `runs?mine=true&cursor=${cursor.slice(0, -4)}`],
    ["no cursor at all", () => "runs?mine=true&cursor=next"],
    [
      "a key of one's own",
      () => `runs?mine=true&cursor=${Buffer.from(JSON.stringify({ id: agent })).toString("base64url")}`,
    ],
  ])("and refused with %s", async (_name, path) => {
    const { next_cursor: cursor } = await slice("runs?mine=true&page_size=5", "");
    const { status, body } = await owner.call("GET", `/api/v1/${path(cursor ?? "")}`);
    expect([status, body.code, body.errors[0].pointer]).toEqual([422, "invalid_cursor", "/cursor"]);
  });

  it("and refused for another caller, and with a page", async () => {
    const { next_cursor: cursor } = await slice("runs?mine=true&page_size=5", "");
    const others = await stranger.call("GET", `/api/v1/runs?mine=true&cursor=${cursor}`);
    expect([others.status, others.body.code]).toEqual([422, "invalid_cursor"]);
    const both = await owner.call("GET", "/api/v1/runs?cursor=&page=2");
    expect([both.status, both.body.code]).toEqual([422, "conflicting_parameters"]);
    // The size of a slice may change on the way.
    expect((await slice("runs?mine=true&page_size=3", cursor ?? "")).items).toHaveLength(3);
    expect((await caller(service).call("GET", `/api/v1/webhooks/${webhook}/deliveries?cursor=`)).status).toBe(401);
    expect((await stranger.call("GET", `/api/v1/teams/${team}/activity?cursor=`)).status).toBe(404);
  });
});

describe("sort", () => {
  const shown = async (path: string, column: string, who: Caller = owner) => {
    const { body, status, text } = await who.call("GET", `/api/v1/${path}&page_size=100`);
    expect(status, text).toBe(200);
    return body.items.map((item: Record<string, unknown>) => item[column]);
  };
  const rows = async (text: string, params: unknown[] = []) =>
    (await service.sql<{ v: unknown }>(text, params)).map(({ v }) => v);

  it("orders runs by time either way, and those of a session by what they took, unknown ones last", async () => {
    const ids = await rows("select id as v from runs where user_id = $1 order by id", [owner.id]);
    expect(await shown("runs?mine=true&sort=created_at", "id")).toEqual(ids.slice(0, 100));
    expect(await shown("runs?mine=true&sort=-created_at", "id")).toEqual(ids.toReversed().slice(0, 100));
    for (const [sort, order] of [
      ["latency_ms", "asc"],
      ["-latency_ms", "desc"],
    ]) {
      const expected = await rows(
        `select id as v from runs where screening_session_id = $1 order by latency_ms ${order} nulls last, id desc`,
        [session],
      );
      expect(expected.length).toBeGreaterThan(10);
      expect(await shown(`runs?screening_session_id=${session}&sort=${sort}`, "id")).toEqual(expected.slice(0, 100));
    }
  });

  it("orders agents by name or time, also where they are looked for by name", async () => {
    const names = await rows('select name as v from agents where is_active order by lower(name) collate "C", id');
    expect(await shown("agents?sort=name", "name")).toEqual(names);
    expect(await shown("agents?sort=-name", "name", caller(service))).toEqual(names.toReversed());
    expect(await shown("agents?sort=created_at&scope=personal", "name")).toEqual([
      "zebra",
      "Apple",
      "mango",
      "apple pie",
    ]);
    expect(await shown("agents?q=apple&sort=-name", "name")).toEqual(["apple pie", "Apple"]);
  });

  it("orders tasks by title, domain, time or place in their suites", async () => {
    for (const [sort, order] of [
      ["title", "t.title"],
      ["-title", "t.title desc"],
      ["domain", "t.domain"],
      ["-created_at", "t.created_at desc"],
    ]) {
      const expected = await rows(
        `select t.id as v from tasks t left join suites s on s.id = t.suite_id where t.is_active
         order by ${order}, s.created_at nulls last, s.id, t.position, t.id limit 100`,
      );
      expect(await shown(`tasks?sort=${sort}`, "id")).toEqual(expected);
    }
    const [last] = await shown("tasks?sort=-position", "id");
    const { body } = await owner.call("GET", "/api/v1/tasks?page_size=1");
    expect((await owner.call("GET", `/api/v1/tasks?page_size=1&page=${body.total}`)).body.items[0].id).toBe(last);
  });

  it.each(["runs", "agents", "tasks"])(
    "of %s by a field that it does not know says which ones there are",
    async (list) => {
      const { status, body } = await owner.call("GET", `/api/v1/${list}?sort=score`);
      expect([status, body.code, body.errors[0].pointer]).toEqual([422, "validation_failed", "/sort"]);
      expect(body.errors[0].message).toMatch(/^Choose one of: .*-created_at, /);
    },
  );

  it("by what runs took is for a session alone, and for pages", async () => {
    const everywhere = await owner.call("GET", "/api/v1/runs?mine=true&sort=latency_ms");
    expect([everywhere.status, everywhere.body.detail]).toEqual([422, expect.stringContaining("screening_session_id")]);
    const byCursor = await owner.call("GET", `/api/v1/runs?screening_session_id=${session}&sort=latency_ms&cursor=`);
    expect([byCursor.status, byCursor.body.code]).toEqual([422, "conflicting_parameters"]);
  });
});
