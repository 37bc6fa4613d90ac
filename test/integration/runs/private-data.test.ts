import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import { DAILY } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { certify } from "../payments/certify-support.ts";
import { addAgent, addRun, addSuite, answersRightly, from, range, startAgent, type TestSuite } from "./support.ts";
import { insertSpan, insertVersion } from "../agents/telemetry-support.ts";

/** Endpoints whose answers are no function of what is public, each with its reason. */
const UNSTEADY: Record<string, string> = {
  beginCodeHost: "begins a sign-in, with a state that is drawn anew each time",
  endCodeHost: "signs in, with a session of its own each time",
  readReadiness: "tells how fast the dependencies answer at this moment",
  readLogCheckpoint: "counts every statement, of private runs too, of which the log holds nothing but a hash",
  readLogTile: "holds a hash of every statement, of private runs too",
};

/** Parameters of queries that only an account may use. */
const OF_ACCOUNTS = ["scope", "team_id", "mine", "endpoint"];

/** Headers of the moment, not of what is answered. */
const MOMENTARY = ["date", "x-request-id", "ratelimit", "ratelimit-policy", "connection", "keep-alive"];

/** Longer than an answer is kept in the service's memory. */
const FORGOTTEN_MS = 11_000;
const HOUR_MS = 3_600_000;
/** What the whole file takes, the steps of its clock among it. */
const ENOUGH_HOURS = 1 / 4;
/** How much of the hour is left at a time. */
const hoursLeft = (at: number): number => 1 - (at % HOUR_MS) / HOUR_MS;

let service: TestService;
let owner: User;
let buyer: User;
let anonymous: Caller;
let endpoint: Consumer;
let suite: TestSuite;
let team: string;
/** The status lists of credentials are signed anew each hour: none begins while answers are held against each other. */
let time = hoursLeft(Date.now()) < ENOUGH_HOURS ? Date.now() + ENOUGH_HOURS * HOUR_MS : Date.now();
let requests = 0;
/** What the public world holds: agents, and ids by the part of a path that they follow. */
let open: { root: string; variant: string; mock: string };
let ids: Record<string, string[]>;
/** Values for parameters of queries. */
let values: Record<string, string>;

const answers = {
  rightly: answersRightly,
  wrongly: () => json(200, { output: "wrong", usage: { calls: [{ model: "hidden", cost_usd: 5 }] } }),
  "not at all": () => json(500, {}),
} satisfies Record<string, Handler>;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  [owner, buyer] = await Promise.all([newUser(service, { plan: "enterprise" }), newUser(service)]);
  anonymous = caller(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
  const [row] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ('T', $1) returning id", [
    owner.id,
  ]);
  team = row?.id ?? "";
  await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'owner')", [team, owner.id]);
});

beforeAll(async () => {
  const live = { endpoint: endpoint.url };
  const root = await addAgent(owner, { ...live, allow_trial: true });
  open = { root, variant: await addAgent(owner, { ...live, variant_of: root }), mock: await addAgent(owner) };
  const passed = await screen(root, "rightly", { repeats: 2 });
  const failed = await screen(open.variant, "not at all");
  await screen(open.variant, "wrongly");
  await screen(open.mock, "rightly");
  const trial = await addRun(anonymous, root, suite.tasks[0] ?? "", {}, from(60_000));
  await service.settled();
  await show(root, passed.runs, 1, { public: true, tools: ["search"] });
  await service.sql("insert into seller_accounts (user_id, account_id) values ($1, 'acct_1')", [owner.id]);
  await service.sql("update users set charges_enabled = true where id = $1", [owner.id]);
  const listing = await offer(root);
  await certify(service, root, passed.session, new Date(time));
  await service.sql(`insert into board_days (day, closed_at, sha256, published_at)
    values ('2026-01-01', '2026-01-01', repeat('0', 64), '2026-01-01')`);
  ids = {
    agents: [root, open.variant],
    status: ["0"],
    runs: [passed.runs[0] ?? "", failed.runs[0] ?? "", trial],
    "screening-sessions": [passed.session],
    suites: [suite.id],
    tasks: [suite.tasks[0] ?? ""],
    history: ["2026-01-01"],
    listings: [listing],
  };
  values = {
    page: "1",
    page_size: "1",
    q: "agent",
    sort: "created_at",
    cursor: "",
    active_only: "false",
    domain: "math",
    period: "7d",
    certified_only: "true",
    verified_only: "true",
    status: "completed",
    agent_id: root,
    agent_ids: `${root},${open.variant}`,
    task_id: suite.tasks[0] ?? "",
    a: root,
    b: open.variant,
    width: "2",
    suite_id: suite.id,
    screening_session_id: passed.session,
    with: passed.session,
    is_active: "true",
    trigger: "manual",
    passed: "true",
    failure_code: "agent_timeout",
    created_after: "2020-01-01T00:00:00Z",
    created_before: "2100-01-01T00:00:00Z",
    format: "tlog-proof",
  };
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** Screens an agent over the suite, to the end. */
async function screen(agent: string, answer: keyof typeof answers, fields: object = {}) {
  endpoint.answer = answers[answer];
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, ...fields });
  expect(batch.status, batch.text).toBe(200);
  await service.settled();
  return {
    session: batch.body[0].screening_session_id as string,
    runs: batch.body.map((run: { id: string }) => run.id) as string[],
  };
}

/** Gives runs telemetry and binds them to the version with this number, which is made where it is new. */
async function show(agent: string, runs: string[], version: number, made: { public?: boolean; tools: string[] }) {
  const number = made.public === true ? version : null;
  const [known] = await service.sql("select from architecture_versions where agent_id = $1 and version = $2", [
    agent,
    version,
  ]);
  if (known === undefined) await insertVersion(service, agent, version, number, { models: ["m"], tools: made.tools });
  for (const run of runs) {
    await insertSpan(service, agent, run, "00000000000000a1", { operation: "chat", model: "m", input_tokens: 9 });
    for (const tool of made.tools)
      await insertSpan(service, agent, run, `00000000000000b${tool.length % 10}`, { kind: "tool", name: tool });
  }
  await service.sql("update runs set architecture_version = $1, architecture_public_version = $2 where id = any ($3)", [
    version,
    number,
    runs,
  ]);
}

/** Lists an agent of the owner in the marketplace; resolves to the listing's id. */
async function offer(agent: string): Promise<string> {
  const [listing] = await service.sql<{ id: string }>(
    "insert into listings (agent_id, seller_id, title, price_usd) values ($1, $2, 'For hire', 10) returning id",
    [agent, owner.id],
  );
  return listing?.id ?? "";
}

/** The paths of a route in the public world: one for each id that it may name. */
function pathsOf({ id, path }: { id: string; path: string }): string[] {
  const parameter = /([^/]+)\/\{\w+\}/.exec(path);
  if (parameter === null) return [path];
  const known = ids[parameter[1] ?? ""];
  if (known === undefined) throw new Error(`${id}: say in ids what the public world holds of ${parameter[1]}`);
  return known.map((one) => path.replace(/\{\w+\}/, one));
}

/**
 * Parameters that leave nothing to find, or are refused, together: each form leaves some out. A cursor is sealed anew each
 * time: it is asked for where all fits into one answer.
 */
const EXCLUSIVE: Record<string, string[][]> = {
  compareAgents: [["a", "b"], ["agent_ids"]],
  listRuns: [
    ["failure_code", "page_size"],
    ["status", "passed", "cursor"],
  ],
};

/** The queries of a route: none, and all its parameters together. */
function queriesOf({ id, query }: { id: string; query?: { shape: object } | undefined }): string[] {
  const names = Object.keys(query?.shape ?? {}).filter((name) => !OF_ACCOUNTS.includes(name));
  if (names.length === 0) return [""];
  const pairs = names.map((name): [string, string] => {
    if (values[name] === undefined) throw new Error(`${id}: say in values what ${name} may be`);
    return [name, values[name]];
  });
  const forms = (EXCLUSIVE[id] ?? [[]]).map((left) => pairs.filter(([name]) => !left.includes(name)));
  return ["", ...forms.map((form) => `?${new URLSearchParams(form).toString()}`)];
}

/** Everything that can be asked without credentials: an address for each open GET route, its ids and its queries. */
function addresses(): { id: string; address: string }[] {
  return ROUTES.filter(({ method, auth }) => method === "get" && ["open", "visitor", "none"].includes(auth))
    .filter(({ id }) => UNSTEADY[id] === undefined)
    .flatMap((route) =>
      pathsOf(route).flatMap((path) => queriesOf(route).map((query) => ({ id: route.id, address: path + query }))),
    );
}

/** What a caller is told at every address, byte for byte, with all that its memory kept forgotten. */
async function told(who: Caller): Promise<Record<string, unknown>> {
  time += FORGOTTEN_MS;
  const left = addresses();
  const entries: [string, unknown][] = [];
  const ask = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      requests += 1;
      const of = { ...from(requests), "x-request-id": "same" };
      const { status, headers, text } = await who.call("GET", next.address, undefined, of);
      const steady = [...headers].filter(([name]) => !MOMENTARY.includes(name));
      entries.push([next.address, { status, headers: steady, text }]);
    }
  };
  await Promise.all(range(4).map(ask));
  return Object.fromEntries(entries);
}

/** What a private agent may belong to, or have become. */
const AGENTS = ["nothing", "root", "team", "deleted", "hidden", "hired"] as const;

/** Something private that may happen in the public world. */
type Deed =
  | { kind: "agent"; of: (typeof AGENTS)[number]; answer: keyof typeof answers }
  | {
      kind: "runs";
      of: keyof typeof open;
      answer: keyof typeof answers;
      repeats: number;
      status: "ended" | "queued" | "running" | "cancelled";
      version: number | null;
    }
  | { kind: "submission" };

const answer = fc.constantFrom(...(Object.keys(answers) as (keyof typeof answers)[]));
const agentDeed = fc.record({
  kind: fc.constant("agent" as const),
  of: fc.constantFrom(...AGENTS),
  answer,
});
const runsDeed = fc.record({
  kind: fc.constant("runs" as const),
  of: fc.constantFrom("root" as const, "variant" as const, "mock" as const),
  answer,
  repeats: fc.integer({ min: 1, max: 3 }),
  status: fc.constantFrom("ended" as const, "queued" as const, "running" as const, "cancelled" as const),
  version: fc.option(fc.integer({ min: 2, max: 5 })),
});
const submissionDeed = fc.record({ kind: fc.constant("submission" as const) });

/** One of each kind, so that none is left to chance. */
const ALL: Deed[] = [
  { kind: "submission" },
  { kind: "agent", of: "root", answer: "rightly" },
  { kind: "agent", of: "team", answer: "not at all" },
  { kind: "agent", of: "deleted", answer: "rightly" },
  { kind: "agent", of: "hidden", answer: "wrongly" },
  { kind: "agent", of: "hired", answer: "rightly" },
  { kind: "runs", of: "root", answer: "wrongly", repeats: 2, status: "ended", version: 2 },
  { kind: "runs", of: "variant", answer: "rightly", repeats: 1, status: "running", version: null },
];

async function happen(deed: Deed): Promise<void> {
  if (deed.kind === "submission") {
    await service.sql("insert into task_submissions (submitter_id, task) values ($1, '{}')", [owner.id]);
  } else if (deed.kind === "agent") {
    const passing = deed.of === "deleted" || deed.of === "hidden";
    const agent = await addAgent(owner, {
      endpoint: endpoint.url,
      is_public: passing,
      ...(deed.of === "root" ? { variant_of: open.root } : {}),
      ...(deed.of === "team" ? { team_id: team } : {}),
    });
    const { runs, session } = await screen(agent, deed.answer);
    await show(agent, runs, 1, { tools: ["secret"] });
    await offer(agent);
    await certify(service, agent, session, new Date(time));
    if (deed.of === "deleted") await owner.call("DELETE", `/api/v1/agents/${agent}`);
    if (deed.of === "hidden") await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    if (deed.of === "hired")
      await service.sql("update agents set user_id = $1, variant_of = $2 where id = $3", [buyer.id, open.root, agent]);
  } else {
    const { status, version } = deed;
    const { runs } = await screen(open[deed.of], deed.answer, { private: true, repeats: deed.repeats });
    if (version !== null) await show(open[deed.of], runs, version, { tools: ["search", "x".repeat(version)] });
    if (status !== "ended") {
      await service.sql(
        `update runs set status = $1, passed = null, failure_code = null, evidence_signed = false,
           finalized_at = case when $1 = 'cancelled' then finalized_at end where id = any ($2)`,
        [status, runs],
      );
    }
  }
}

describe("what anybody may read", () => {
  it("is there for every open endpoint", async () => {
    const all = await told(anonymous);
    const seen = addresses().filter(({ address }) => (all[address] as { status: number }).status !== 404);
    const routes = new Set(addresses().map(({ id }) => id));
    expect([...routes].filter((id) => !seen.some((one) => one.id === id))).toEqual([]);
    expect(Object.keys(UNSTEADY).filter((id) => !ROUTES.some((route) => route.id === id))).toEqual([]);
  });

  it("does not change by a byte with anything that happens in private", async () => {
    const stranger = await newUser(service);
    const [before, others] = [await told(anonymous), await told(stranger)];
    const deeds = fc.array(fc.oneof({ weight: 3, arbitrary: runsDeed }, agentDeed, submissionDeed), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(deeds, async (some) => {
        for (const deed of some) await happen(deed);
        expect(await told(anonymous)).toEqual(before);
      }),
      { numRuns: 3, examples: [[ALL]], endOnFailure: true },
    );
    expect(await told(stranger)).toEqual(others);
    // Not because there was nothing to tell: the owner hears of it.
    const mine = await told(owner);
    for (const part of ["", "/stats", "/screening-sessions", "/blueprint", "/blueprint/versions", "/frontier"]) {
      const address = `/api/v1/agents/${open.root}${part}`;
      expect(mine[address], address).not.toEqual(before[address]);
    }
  }, 120_000);

  it("does not change when everything is summed up anew", async () => {
    const before = await told(anonymous);
    await service.app.scheduled(DAILY);
    await service.settled();
    expect(await told(anonymous)).toEqual(before);
  });
});
