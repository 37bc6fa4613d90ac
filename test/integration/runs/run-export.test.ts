import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { RunRead } from "../../../shared/runs/shown.ts";
import { plainRuns } from "../../bench/export.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, unique } from "./support.ts";

const PATH = "/api/v1/runs/export.csv";
const MIB = 1024 * 1024;
const LF = 10;
type Scalar = string | number | boolean | null;

const COLUMNS = Object.keys(RunRead.shape).filter((name) => name !== "axes");

let service: TestService;
let owner: User;
let agent: string;
let task: string;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  agent = await addAgent(owner);
  task = (await addSuite(service, 1)).tasks[0] ?? "";
});

afterAll(() => service.stop());

beforeEach(() => service.sql("truncate runs cascade"));
afterEach(() => service.faults.set({ service: "db", mode: "none" }));

/** Puts finished runs that `user` asked for into the database; `columns` are set on each. */
async function insert(user: User, agentId: string, runs: Record<string, unknown>[]): Promise<void> {
  const rows = runs.map((columns) => ({
    agent_id: agentId,
    task_id: task,
    user_id: user.id,
    status: "completed",
    trigger: "manual",
    scope: "personal",
    evidence_cost_source: "unavailable",
    is_private: false,
    evidence_signed: false,
    ...columns,
  }));
  const names = [...new Set(rows.flatMap(Object.keys))];
  await service.sql(
    `insert into runs (${names.join(", ")}) select ${names.map((name) => `r.${name}`).join(", ")}
     from jsonb_populate_recordset(null::runs, $1::jsonb) r`,
    [JSON.stringify(rows)],
  );
}

/** As many plain runs of the owner, and no others. */
async function insertMany(count: number): Promise<void> {
  await service.sql(plainRuns({ owner: owner.id, agent, task }, count));
}

/** The cells of a CSV text, line by line, by the grammar of RFC 4180 and nothing more lenient. */
function parse(text: string): string[][] {
  const lines: string[][] = [];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  let line: string[] = [];
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (match === null) throw new Error("not CSV");
    const [, cell = "", end] = match;
    line.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ",") continue;
    lines.push(line);
    line = [];
  }
  return lines;
}

const exported = async (who: User, query = "") => parse((await who.call("GET", PATH + query)).text);

/** The export as a stream, read in this process. */
async function open(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const request = new Request(service.url + PATH, { headers: { authorization: `Bearer ${owner.token}` } });
  const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  const { body, status } = await service.app.fetch(request, {}, execution);
  if (body === null || status !== 200) throw new Error(`status ${status}`);
  return body.getReader();
}

/** The rest of a stream: the first cell of each line. */
async function idsOf(reader: ReadableStreamDefaultReader<Uint8Array>, between?: () => Promise<unknown>) {
  const ids: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ids;
    for (const [id = ""] of parse(Buffer.from(value).toString())) if (id !== "id") ids.push(id);
    await between?.();
  }
}

const dbRequests = () => service.counters.snapshot().db.requests;

describe("who gets the export", () => {
  it.each(["free", "pro", "team", "enterprise"] as const)(
    "an account of the plan %s, by session and by key",
    async (plan) => {
      const user = await newUser(service, { plan });
      const { body } = await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" });
      for (const who of [user, caller(service, { "x-api-key": body.key })]) {
        const answer = await who.call("GET", PATH);
        if (plan === "free") expect(answer).toMatchObject({ status: 402, body: { code: "plan_required" } });
        else expect([answer.status, answer.text]).toEqual([200, `${COLUMNS.join(",")}\r\n`]);
      }
    },
  );

  it("is told what it is by its headers", async () => {
    const { headers } = await owner.call("GET", PATH);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="runs-\d{4}-\d\d-\d\d\.csv"$/);
    expect(headers.get("cache-control")).toBe("private, no-store");
  });
});

describe("the lines", () => {
  it("are the runs that the caller asked for, with what RunRead shows the caller of each", async () => {
    const other = await newUser(service, { plan: "pro" });
    const theirs = await addAgent(other, { allow_trial: true });
    const full = {
      passed: true,
      correctness: 1e-7,
      latency_ms: 12,
      evidence_cost_usd: 0.0123,
      evidence_signed: true,
      architecture_version: 7,
      architecture_public_version: 3,
      failure_detail: "detail",
      input_tokens: 9_007_199_254_740_991,
      started_at: "2026-11-21T09:00:00.1Z",
      finalized_at: "2026-11-21T10:00:01.020+01:00",
    };
    await insert(owner, agent, [full, {}, { is_private: true }]);
    await insert(owner, theirs, [{ ...full, trigger: "trial" }]);
    await insert(other, agent, [full]);
    const items = (await owner.call("GET", "/api/v1/runs?mine=true")).body.items as Record<string, Scalar>[];
    const cell = (value: Scalar | undefined) => (value === null || value === undefined ? "" : String(value));
    const number = (text: string) => (text !== "" && Number.isFinite(Number(text)) ? String(Number(text)) : text);
    const [header, ...lines] = await exported(owner);
    expect(items).toHaveLength(4);
    expect(header).toEqual(COLUMNS);
    expect(lines.map((line) => line.map(number))).toEqual(items.map((run) => COLUMNS.map((name) => cell(run[name]))));
    const trial = lines.find((line) => line[COLUMNS.indexOf("trigger")] === "trial");
    const hidden = ["scope", "team_id", "failure_detail"].map((name) => trial?.[COLUMNS.indexOf(name)]);
    expect(hidden).toEqual(["", "", ""]);
  });

  it("can be narrowed to an agent that the caller sees", async () => {
    const other = await newUser(service, { plan: "pro" });
    const hidden = await addAgent(other, { is_public: false });
    const second = await addAgent(owner);
    await insert(owner, agent, [{}, {}]);
    await insert(owner, second, [{}]);
    expect(await exported(owner, `?agent_id=${second}`)).toHaveLength(2);
    expect(await exported(owner, `?agent_id=${agent}`)).toHaveLength(3);
    for (const [id, status] of [
      [hidden, 404],
      [unique("no uuid"), 422],
    ] as const)
      expect((await owner.call("GET", `${PATH}?agent_id=${id}`)).status).toBe(status);
  });

  it.each([
    ['=HYPERLINK("https://x.test")', '\'=HYPERLINK("https://x.test")'],
    ["=1+1", "'=1+1"],
    ["+1+1", "'+1+1"],
    ["-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"],
    ["@SUM(A1:A9)", "'@SUM(A1:A9)"],
    ["\t=1+1", "'\t=1+1"],
    ["\r=1+1", "'\r=1+1"],
    ["\n=1+1", "'\n=1+1"],
    ["＝1+1", "'＝1+1"],
    ["-5\n=1+1", "'-5\n=1+1"],
    ["-5", "-5"],
    ["+1.5e-3", "+1.5e-3"],
    ["a,b", "a,b"],
    ['say "x"', 'say "x"'],
    ["two\r\nlines", "two\r\nlines"],
    ["a=b", "a=b"],
    ["'", "'"],
    ["naïve 😀", "naïve 😀"],
  ])("hold %j as %j, for every reader of CSV", async (value, shown) => {
    await insert(owner, agent, [{ serving_model: value, failure_detail: value }, { serving_model: "next" }]);
    const [, next, line] = await exported(owner);
    expect(next?.[COLUMNS.indexOf("serving_model")]).toBe("next");
    for (const name of ["serving_model", "failure_detail"]) expect(line?.[COLUMNS.indexOf(name)]).toBe(shown);
  });

  it("leave numbers alone, negative ones and small ones too", async () => {
    const numbers = { latency_ms: -5, correctness: -1e-7, evidence_cost_usd: -0.000001, total_cost_usd: 10 };
    await insert(owner, agent, [numbers]);
    const [, line] = await exported(owner);
    expect(Object.keys(numbers).map((name) => line?.[COLUMNS.indexOf(name)])).toEqual([
      "-5",
      "-1e-07",
      "-0.000001",
      "10",
    ]);
  });
});

describe("the lines of JSON", () => {
  const JSONL = "/api/v1/runs/export.jsonl";
  const linesOf = (text: string) => text.split("\n").slice(0, -1);

  it("are each what the list of runs says of it, newest first, with what it shows the caller", async () => {
    const other = await newUser(service, { plan: "pro" });
    const theirs = await addAgent(other, { allow_trial: true });
    const full = {
      passed: true,
      axes: { correctness: 0.5, latency: 1, cost: 0.25, tool_efficiency: 1, robustness: 0 },
      evidence_cost_usd: 0.0123,
      architecture_version: 7,
      architecture_public_version: 3,
      failure_detail: 'a "detail"\n\u2028of lines',
      input_tokens: 9_007_199_254_740_991,
      started_at: "2026-11-21T09:00:00.1Z",
    };
    await insert(owner, agent, [full, {}, { is_private: true }]);
    await insert(owner, theirs, [{ ...full, trigger: "trial" }]);
    await insert(other, agent, [full]);
    const answer = await owner.call("GET", JSONL);
    const { items } = (await owner.call("GET", "/api/v1/runs?mine=true")).body;
    expect(items).toHaveLength(4);
    expect(linesOf(answer.text).map((line) => JSON.parse(line))).toEqual(items);
    expect(linesOf((await owner.call("GET", `${JSONL}?agent_id=${theirs}`)).text)).toHaveLength(1);
    expect(answer.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="runs-\d{4}-\d\d-\d\d\.jsonl"$/);
  });

  it("are those of one screening session, where the caller sees it", async () => {
    const other = await newUser(service, { plan: "pro" });
    const [mine, another, hidden] = await service.sql<{ id: string }>(
      `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, is_private)
       select $1, $2, 'manual', '[]', 1, n = 3 from generate_series(1, 3) n returning id`,
      [agent, owner.id],
    );
    const [of, beside] = [{ screening_session_id: mine?.id }, { screening_session_id: another?.id }];
    await insert(owner, agent, [of, of, beside, {}]);
    await insert(other, agent, [of]);
    const read = (who: User, query: string) => who.call("GET", `${JSONL}?screening_session_id=${query}`);
    const { items } = (await owner.call("GET", `/api/v1/runs?mine=true&screening_session_id=${mine?.id}`)).body;
    const answer = await read(owner, `${mine?.id}&agent_id=${agent}`);
    expect([items.length, linesOf(answer.text).map((line) => JSON.parse(line))]).toEqual([2, items]);
    expect(linesOf((await read(other, `${mine?.id}`)).text)).toHaveLength(1);
    expect(await exported(owner, `?screening_session_id=${another?.id}`)).toHaveLength(2);
    expect((await read(other, `${hidden?.id}`)).body).toMatchObject({ status: 404, code: "not_found" });
  });

  it("are read a page a statement, from the plan Pro on", async () => {
    await insertMany(5001);
    await service.settled();
    service.counters.reset();
    const lines = linesOf((await owner.call("GET", JSONL)).text);
    expect([new Set(lines).size, dbRequests()]).toEqual([5001, 2]);
    expect(await (await newUser(service)).call("GET", JSONL)).toMatchObject({
      status: 402,
      body: { code: "plan_required" },
    });
  });
});

describe("a large export", () => {
  it.each([
    [4999, 1],
    [5000, 2],
    [12_001, 3],
  ])("of %d runs takes %d statements and one request to Redis", async (runs, statements) => {
    await insertMany(runs);
    await service.settled();
    service.counters.reset();
    const ids = await idsOf(await open());
    const { db, redis } = service.counters.snapshot();
    expect([ids.length, db.requests, redis.requests]).toEqual([runs, statements, 1]);
  });

  it("has each run of its beginning once, newest first, whatever is run meanwhile", async () => {
    await insertMany(12_001);
    const before = await service.sql<{ id: string }>("select id from runs order by id desc");
    const ids = await idsOf(await open(), () => insert(owner, agent, [{}, {}]));
    expect(ids).toEqual(before.map(({ id }) => id));
  });

  it("reads two pages at once, and neither leaves out nor repeats a run where the first of them takes several answers", async () => {
    await insertMany(12_001);
    await service.sql(
      "update runs set failure_detail = repeat('x', 1200) where id < (select id from runs order by id desc offset 5500 limit 1)",
    );
    const before = await service.sql<{ id: string }>("select id from runs order by id desc");
    const reader = await open();
    service.counters.reset();
    const first = Buffer.from((await reader.read()).value ?? []).toString();
    await vi.waitUntil(() => dbRequests() === 2, 10_000);
    const ids = [
      ...parse(first)
        .slice(1)
        .map(([id]) => id),
      ...(await idsOf(reader)),
    ];
    expect(ids).toEqual(before.map(({ id }) => id));
    // The second page in two answers, and what follows it in one.
    expect(dbRequests()).toBe(3);
  });

  it("comes in answers that Neon gives, however long and however awkward agents' own words are", async () => {
    await insertMany(1200);
    for (const word of ['"', "\u{1}"]) {
      await service.sql("update runs set failure_detail = repeat($1, 2000)", [word]);
      const before = await service.sql<{ id: string }>("select id from runs order by id desc");
      expect(await idsOf(await open())).toEqual(before.map(({ id }) => id));
    }
  });

  it("of 50,000 runs is read at the reader's pace in flat memory", async () => {
    await insertMany(50_000);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = () => {
      collect();
      // The second one waits for what the first one's sweeper has not given back yet.
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    service.counters.reset();
    const reader = await open();
    await reader.read();
    const [start, waiting] = [used(), dbRequests()];
    let lines = 5000;
    let most = 0;
    let pages = 1;
    for (let page = await reader.read(); page.value !== undefined; page = await reader.read()) {
      for (let at = page.value.indexOf(LF); at >= 0; at = page.value.indexOf(LF, at + 1)) lines += 1;
      pages += 1;
      // Nothing but the next two pages is read ahead of this one.
      expect(dbRequests()).toBeLessThanOrEqual(pages + 2);
      if (pages % 5 === 0) most = Math.max(most, used() - start);
    }
    expect(waiting).toBeLessThanOrEqual(3);
    // The tenth page is full, so that an empty one follows.
    expect([dbRequests(), lines]).toEqual([11, 50_000]);
    expect(most).toBeLessThan(10 * MIB);
  }, 60_000);

  it("that nobody reads any more costs nothing more", async () => {
    await insertMany(15_000);
    await service.settled();
    service.counters.reset();
    const reader = await open();
    await reader.read();
    await vi.waitUntil(() => dbRequests() === 3, 10_000);
    await reader.cancel();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    await owner.call("GET", "/api/v1/auth/me");
    expect(dbRequests()).toBe(4);
  });

  it.each<[string, () => unknown]>([
    ["the database fails", () => service.faults.set({ service: "db", mode: "error" })],
    ["the plan is lost", () => service.sql("update users set plan = 'free' where id = $1", [owner.id])],
  ])("breaks off, and never looks whole, when on the way %s", async (_what, happen) => {
    await insertMany(15_000);
    await service.settled();
    const reader = await open();
    await reader.read();
    service.logs.length = 0;
    await happen();
    // The pages after this one may have been read before.
    await expect(idsOf(reader)).rejects.toThrow();
    expect(service.logs.join("\n")).toContain("stream broke off");
    await service.sql("update users set plan = 'pro' where id = $1", [owner.id]).catch(() => undefined);
  });
});
