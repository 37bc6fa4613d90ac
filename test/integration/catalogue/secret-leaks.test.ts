import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import type { Route } from "../../../shared/http/route.ts";
import type { Answer } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range } from "../runs/support.ts";
import { decoded, documents, exposed, Secrets } from "./secret-leaks-support.ts";
import { buildWorld, INSIDERS, newAddress, type World } from "./secret-leaks-world.ts";
import { tasksWhere } from "./secret-suites-support.ts";

// Vite takes graphql's ES build and Pothos, loaded by Node, its CommonJS one: two copies do not know each other's types.
vi.mock("graphql", () => createRequire(import.meta.url)("graphql") as object);

const READERS = ["anonymous", "stranger", "owner", "member", "admin"] as const;

/** Tables where the secrets have to stand: the tasks themselves, and what went over the wire, for insiders' eyes. */
const KEEPING = ["tasks", "run_exchanges"];

const NOBODYS = "01938e7a-0000-7000-8000-000000000009";
const GETS = ROUTES.filter(({ method }) => method === "get");

/** What a reader was told by a route. */
interface Told {
  reader: (typeof READERS)[number];
  route: Route;
  status: number;
  headers: string;
  text: string;
}

let service: TestService;
let world: World;
let secrets: Secrets;
let told: Told[];

beforeAll(async () => {
  service = await startService();
  world = await buildWorld(service);
  secrets = new Secrets(world.secret, await tasksWhere(service, "not is_secret"));
  const left = (await Promise.all(GETS.map(addressesOf)))
    .flat()
    .flatMap((one) => readersOf(one.route).map((reader) => ({ ...one, reader })));
  told = [];
  const ask = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop())
      told.push(...(await tell(next.reader, next.route, next.address)));
  };
  await Promise.all(range(4).map(ask));
}, 120_000);

afterAll(async () => {
  await world.stop();
  await service.stop();
});

/** Ids for a parameter: of what this world is about, else some of the table that is named like the path before it. */
async function idsFor(parent: string): Promise<string[]> {
  const { agents, runs, sessions, secret } = world;
  const own: Record<string, string[]> = {
    agents: [agents.wrong, agents.echo],
    runs: [runs.right, runs.wrong, runs.echo, runs.confessing],
    "screening-sessions": [sessions.wrong, sessions.echo],
    tasks: [secret[0]?.id ?? "", secret.find(({ is_active }) => !is_active)?.id ?? ""],
    suites: [...new Set(secret.map(({ suite_id }) => suite_id))],
    status: ["0"],
  };
  if (own[parent] !== undefined) return own[parent];
  const table = parent.replaceAll("-", "_");
  const columns = "select from information_schema.columns where table_name = $1 and column_name = 'id'";
  if ((await service.sql(columns, [table])).length === 0) return [NOBODYS];
  const rows = await service.sql<{ id: string }>(`select id from ${table} order by id limit 8`);
  return rows.length === 0 ? [NOBODYS] : rows.map(({ id }) => id);
}

/** Those for whom a route may have different answers: where no account is looked at, one stands for all. */
const readersOf = ({ auth }: Route) => READERS.filter((reader) => auth !== "none" || reader === "anonymous");

/** Every address of a route: with each id that it may name, and with what its query may be narrowed to. */
async function addressesOf(route: Route): Promise<{ route: Route; address: string }[]> {
  const { path, query } = route;
  const [, parent] = /([^/]+)\/\{\w+\}/.exec(path) ?? [];
  const ids = parent === undefined ? [""] : await idsFor(parent);
  const {
    agents: { echo, right },
    sessions,
  } = world;
  const values = {
    page_size: "100",
    agent_id: echo,
    task_id: world.secret[0]?.id ?? "",
    a: echo,
    b: right,
    with: sessions.echo,
  };
  const pairs = Object.entries(values).filter(([name]) => query !== undefined && name in query.shape);
  const queries = new Set([pairs.slice(0, 1), pairs].map((some) => new URLSearchParams(some).toString()));
  return ids.flatMap((id) =>
    [...queries].map((text) => ({ route, address: `${path.replaceAll(/\{\w+\}/g, id)}?${text}` })),
  );
}

/** What a reader is told at an address and on the pages after it. */
async function tell(reader: Told["reader"], route: Route, address: string): Promise<Told[]> {
  const all: Told[] = [];
  for (let next: string | undefined = address; next !== undefined; ) {
    const answer: Answer = await world.readers[reader].call("GET", next, undefined, newAddress());
    const { status, headers, text } = answer;
    all.push({ reader, route, status, headers: [...headers].flat().join("\n"), text });
    next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1]?.slice(service.url.length);
  }
  return all;
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** A text less the words of agents that the service passes on to insiders. */
const withoutOwnWords = (text: string): string =>
  /agent_(?:reported_failure|http_error)/.test(text)
    ? world.ownWords.reduce((left, words) => left.replaceAll(words, ""), decoded(text))
    : text;

/** What the service itself says in an answer: insiders may read there what their agent said. */
function saidBy({ reader, route, status, text }: Told): string {
  if (!INSIDERS.includes(reader)) return text;
  if (status === 200 && route.id === "exportAccount") return text.split("\n").map(withoutAnswer).join("\n");
  if (route.id !== "readRunOutput" || status !== 200) return withoutOwnWords(text);
  return withoutAnswer(text);
}

/** The JSON of an exchange less what the agent said in it; any other line as the service says it. */
function withoutAnswer(line: string): string {
  // In a ZIP file, the first line of a file in it stands behind that file's name.
  const [found] = /\{.*\}/.exec(line) ?? [];
  const exchange = found === undefined ? null : parsed<object>(found);
  if (exchange === null || !("response" in exchange)) return withoutOwnWords(line);
  return JSON.stringify({ ...exchange, output: null, response: null });
}

const searched = new Map<string, string[]>();

/** What of the secrets stands in a text; most texts come more than once. */
function findsIn(text: string): string[] {
  const finds = searched.get(text) ?? secrets.find(text);
  searched.set(text, finds);
  return finds;
}

describe("the search", () => {
  it("knows every secret task of every version, and finds it in whatever a text is wrapped", async () => {
    const { titles, keys } = secrets.sizes;
    expect(titles).toEqual(new Set(world.secret.map(({ title }) => title)));
    expect(keys).toBeGreaterThan(100);
    const wrapped: ((text: string) => string)[] = [
      (text) => JSON.stringify({ data: JSON.stringify({ text }) }),
      (text) => `<p>${text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")}</p>`,
      (text) => `{"jws":"e30.${Buffer.from(text).toString("base64url")}.e30"}`,
      (text) => `a,"${text.replaceAll('"', '""')}",b`,
    ];
    for (const { title, prompt } of world.secret)
      for (const wrap of wrapped) expect(secrets.find(wrap(prompt)).join(), title).toContain(title);
    // A short name, or one that stands in a public task, too, gives nothing away.
    const known = JSON.stringify(await tasksWhere(service, "not is_secret"));
    const names = world.secret.flatMap(({ expected_output: key }) => JSON.stringify(key).match(/\b[A-Z]\w{4,}/g) ?? []);
    const first = names.find((name) => !known.includes(name)) ?? "no name is secret";
    expect(secrets.find(`The answer lacks "${first}".`).join()).toContain(first);
  });

  it("goes through every run, every grader, and every endpoint that tells of runs, agents and tasks", async () => {
    expect(await service.sql("select from runs where status not in ('completed', 'failed')")).toEqual([]);
    const graded = "select distinct t.grader -> 'type' from runs r join tasks t on t.id = r.task_id";
    const all = await service.sql(
      "select distinct grader -> 'type' from tasks where is_secret and expected_output is not null",
    );
    expect(all.length).toBeGreaterThan(4);
    for (const passed of [true, false]) {
      const rows = await service.sql(
        `${graded} where r.status = 'completed' and passed = $1 and t.expected_output is not null`,
        [passed],
      );
      expect(rows.length).toBeGreaterThanOrEqual(all.length);
    }
    const about = GETS.filter(({ path }) => /\{(?:agent|run|task|session)_id\}/.test(path)).map(({ id }) => id);
    const answered = new Set(told.filter(({ status }) => status < 300).map(({ route }) => route.id));
    expect(about.filter((id) => !answered.has(id))).toEqual([]);
  });
});

describe("no prompt and no key of a secret task", () => {
  it.each(READERS)("is told to %s by any endpoint", (reader) => {
    const own = told.filter((one) => one.reader === reader);
    const asked = GETS.filter((route) => readersOf(route).includes(reader));
    expect(new Set(own.map(({ route }) => route))).toEqual(new Set(asked));
    const leaks = own.flatMap((one) =>
      [one.headers, saidBy(one)].flatMap(findsIn).map((find) => `${one.route.id}: ${find}`),
    );
    expect(leaks).toEqual([]);
    expect(own.flatMap(({ text }) => exposed(parsed(text)))).toEqual([]);
  });

  it("is told by GraphQL, whatever is asked of it", async () => {
    const ask = (query: string) => world.readers.owner.call("POST", "/graphql", { query }, newAddress());
    const queries = await documents(ask, { task: world.secret[0]?.id ?? "", agent: world.agents.echo });
    expect(queries.length).toBeGreaterThan(5);
    for (const query of queries) {
      const { status, text, body } = await ask(query);
      expect([status, body.errors], query).toEqual([200, undefined]);
      expect([findsIn(text), exposed(body)], query).toEqual([[], []]);
    }
  });

  it("is told to who tries to run it, to an agent that reports, and to the operator who rotates", () => {
    const codes = world.passing.map((text) => parsed<{ code?: string }>(text)?.code);
    expect(new Set(codes)).toEqual(new Set([undefined, "validation_failed", "not_found"]));
    expect(world.passing.flatMap(findsIn)).toEqual([]);
  });

  it("is logged, queued, kept in Redis, mailed or sent anywhere else", () => {
    for (const name of ["QSTASH_URL", "UPSTASH_REDIS_REST_URL", "RESEND_API_BASE"]) {
      const url = service.settings[name] ?? "";
      expect(world.sent.filter(({ to }) => to.startsWith(url)).length, name).toBeGreaterThan(0);
    }
    expect(service.logs.length).toBeGreaterThan(0);
    expect([...service.logs, ...world.sent.map(({ text }) => text)].flatMap(findsIn)).toEqual([]);
  });

  it("is kept by the database but where it belongs", async () => {
    const tables = await service.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
    );
    const others = tables.map(({ name }) => name).filter((name) => !KEEPING.includes(name));
    expect(others).toEqual(expect.arrayContaining(["runs", "run_phases", "run_evidence", "spans"]));
    for (const name of others) {
      const [row] = await service.sql<{ all: string }>(
        `select coalesce(jsonb_agg(to_jsonb(x)), '[]')::text as all from ${name} x`,
      );
      expect(findsIn(withoutOwnWords(row?.all ?? "")), name).toEqual([]);
    }
  });
});

describe("a run of a secret task", () => {
  it("is explained in words that are the same whatever the key", async () => {
    const rows = await service.sql<{ explanation: string }>(
      "select distinct explanation from runs where explanation is not null",
    );
    const FIXED =
      /what was expected is not shown\.$|^The answer is (?:not JSON|JSON, but not an object)\.$|^No number was found/;
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.map(({ explanation }) => explanation).filter((text) => !FIXED.test(text))).toEqual([]);
  });

  it("gives insiders what their agent said, and nobody what it was sent", () => {
    const outputs = told.filter(({ route }) => route.id === "readRunOutput");
    for (const { reader, status, text } of outputs) {
      if (!INSIDERS.includes(reader)) expect([403, 404]).toContain(status);
      else expect([status, parsed<object>(text)]).toMatchObject([200, { request: null }]);
    }
    const echoed = outputs.filter(({ text }) => findsIn(text).length > 0).map(({ reader }) => reader);
    expect(new Set(echoed)).toEqual(new Set(INSIDERS));
  });
});
