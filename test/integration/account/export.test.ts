import { newAuthenticator } from "../../stack/authenticator.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainRuns } from "../../bench/export.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { unzip } from "../../stack/unzip.ts";
import { newSubmission } from "../catalogue/submissions-support.ts";
import { insertVersion } from "../agents/telemetry-support.ts";
import { addAgent, addSuite, startAgent, type TestSuite } from "../runs/support.ts";

const PATH = "/api/v1/users/me/export";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let other: User;
/** What each of them made, and the secrets that came with it. */
let own: World;
let foreign: World;

interface World {
  agent: string;
  webhook: string;
  /** Texts and ids that are this account's alone. */
  marks: string[];
  secrets: string[];
}

/** Gives an account one of everything that it can have, named after it. */
async function fill(user: User, name: string): Promise<World> {
  const header = `header-secret-of-${name}`;
  const agent = await addAgent(user, {
    endpoint: endpoint.url,
    description: `an agent of ${name}`,
    auth_header: { name: "X-Agent-Auth", value: header },
  });
  const send = async (path: string, body?: object) => {
    const answer = await user.call("POST", path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const webhook = await send("/api/v1/webhooks", {
    url: endpoint.url,
    event_types: ["run.completed"],
    secret: `webhook-secret-of-${name}-0123456789`,
  });
  const key = await send("/api/v1/api-keys", { name: `key of ${name}`, scope: "read" });
  const options = await user.call("POST", "/api/v1/users/me/passkeys/options");
  await send("/api/v1/users/me/passkeys", {
    name: `passkey of ${name}`,
    credential: newAuthenticator(service.url).create(options.body),
  });
  const tasks = { agent_id: agent, task_ids: suite.tasks, repeats: 1 };
  await send("/api/v1/screening-schedules", { ...tasks, cron: "0 4 * * *", timezone: "UTC" });
  const runs = await send("/api/v1/runs/batch", { ...tasks, private: true });
  const proposal = await newSubmission(user, { title: `a proposal of ${name}`, rationale: `thoughts of ${name}` });
  await service.sql(
    `insert into purchases (listing_id, buyer_id, agent_name, price_usd, fee_usd) values (gen_random_uuid(), $1, 'Hired', 10, 1)`,
    [user.id],
  );
  await send("/api/v1/scorecards", { name: `scorecard of ${name}`, weights: { correctness: 1 } });
  await send("/api/v1/pmf/respond", { score: 9, disappointment: "very", comment: `comment of ${name}` });
  await service.sql("insert into listings (agent_id, seller_id, title, price_usd) values ($1, $2, $3, 10)", [
    agent,
    user.id,
    `listing of ${name}`,
  ]);
  await service.sql(
    `with sold as (insert into purchases (listing_id, seller_id, agent_name, price_usd, fee_usd)
      values (gen_random_uuid(), $1, $2, 10, 1) returning id)
    insert into revenue (purchase_id, seller_id, gross_usd, fee_usd, net_usd) select id, $1, 10, 1, 9 from sold`,
    [user.id, `sold by ${name}`],
  );
  await service.sql("insert into identities (provider, provider_user_id, user_id) values ('github', $1, $2)", [
    `github id of ${name}`,
    user.id,
  ]);
  await service.sql(
    "insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at) values ($1, $2, 'not_certified', 39, now())",
    [agent, user.id],
  );
  await service.sql(
    `insert into spans (run_id, span_id, agent_id, kind, name, started_at, duration_ms)
      select r, lpad(n::text, 16, '0'), $2, 'tool', $3, now(), 1.5
      from unnest($1::uuid[]) r, generate_series(1, 2) n`,
    [runs.map(({ id }: { id: string }) => id), agent, `tool of ${name}`],
  );
  for (const version of [1, 2])
    await insertVersion(service, agent, version, null, { tools: [`tool ${version} of ${name}`] });
  await service.settled();
  // Only now: runs of an agent that may send telemetry wait for it.
  const otlp = await send(`/api/v1/agents/${agent}/otlp-token`);
  return {
    agent,
    webhook: webhook.id,
    marks: [
      name,
      user.id,
      user.email,
      agent,
      webhook.id,
      key.id,
      proposal,
      ...["scorecard", "comment", "listing", "github id", "tool", "tool 1", "tool 2"].map(
        (thing) => `${thing} of ${name}`,
      ),
      `sold by ${name}`,
      ...runs.map(({ id }: { id: string }) => id),
    ],
    secrets: [header, `webhook-secret-of-${name}`, key.key, otlp.token, PASSWORD, user.token],
  };
}

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  suite = await addSuite(service, 3);
  [owner, other] = [
    await newUser(service, { plan: "team", verified: true }),
    await newUser(service, { plan: "team", verified: true }),
  ];
  own = await fill(owner, "ada");
  foreign = await fill(other, "grace");
  // In the other account's workspace, whose agent and runs are none of the member's.
  const { body: team } = await other.call("POST", "/api/v1/teams", { name: "Shared" });
  await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team.id, owner.id]);
  await other.call("POST", "/api/v1/agents", { name: "grace's in the workspace", team_id: team.id });
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

async function exported(user: User): Promise<Map<string, string>> {
  const response = await fetch(service.url + PATH, { headers: { authorization: `Bearer ${user.token}` } });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/zip"]);
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="account-\d{4}-\d\d-\d\d\.zip"$/);
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  return unzip(Buffer.from(await response.arrayBuffer()));
}

const linesOf = (text = ""): Record<string, unknown>[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const read = async (path: string) => (await owner.call<{ items: Record<string, unknown>[] }>("GET", path)).body;
const byId = (items: Record<string, unknown>[]) =>
  items.toSorted((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1));

describe("the export of an account", () => {
  it("has each thing as its own endpoint answers it", async () => {
    const files = await exported(owner);
    const lists: Record<string, string> = {
      "agents.jsonl": "/api/v1/agents?scope=personal",
      "runs.jsonl": "/api/v1/runs?mine=true",
      "screening-sessions.jsonl": `/api/v1/agents/${own.agent}/screening-sessions`,
      "schedules.jsonl": "/api/v1/screening-schedules",
      "webhooks.jsonl": "/api/v1/webhooks",
      "passkeys.jsonl": "/api/v1/users/me/passkeys",
      "sessions.jsonl": "/api/v1/auth/sessions",
      "scorecards.jsonl": "/api/v1/scorecards",
      "api-keys.jsonl": "/api/v1/api-keys",
      "purchases.jsonl": "/api/v1/marketplace/purchases",
      "proposals.jsonl": "/api/v1/task-submissions/mine",
    };
    expect([...files.keys()].toSorted()).toEqual(
      [
        ...Object.keys(lists),
        "answers.jsonl",
        "certifications.jsonl",
        "events.jsonl",
        "linked-accounts.jsonl",
        "listings.jsonl",
        "notifications.json",
        "profile.json",
        "sales.jsonl",
        "second-factor.json",
        "spans.jsonl",
        "survey-answers.jsonl",
        "versions.jsonl",
        "webhook-deliveries.jsonl",
        "workspaces.jsonl",
      ].toSorted(),
    );
    for (const [file, list] of Object.entries(lists)) {
      const { items } = await read(list);
      expect(items.length, file).toBeGreaterThan(0);
      expect(byId(linesOf(files.get(file))), file).toEqual(byId(items));
    }
    expect(JSON.parse(files.get("profile.json") ?? "")).toEqual(await read("/api/v1/auth/me"));
    expect(JSON.parse(files.get("notifications.json") ?? "")).toEqual(await read("/api/v1/users/me/notifications"));
    const { items: deliveries } = await read(`/api/v1/webhooks/${own.webhook}/deliveries`);
    expect(deliveries).toHaveLength(suite.tasks.length);
    expect(byId(linesOf(files.get("webhook-deliveries.jsonl")))).toEqual(
      byId(deliveries.map((delivery) => ({ ...delivery, webhook_id: own.webhook }))),
    );
    const answers = linesOf(files.get("answers.jsonl"));
    expect(answers).toHaveLength(suite.tasks.length);
    for (const answer of answers) {
      const { instance, ...output } = {
        instance: null,
        ...(await read(`/api/v1/runs/${String(answer["run_id"])}/output`)),
      };
      expect(answer).toEqual(output);
      expect([answer["output"], instance]).toEqual(["42", null]);
    }
    expect(JSON.parse(files.get("second-factor.json") ?? "")).toEqual(await read("/api/v1/users/me/totp"));
    expect(linesOf(files.get("certifications.jsonl"))).toMatchObject([
      { agent_id: own.agent, status: "not_certified", price_usd: 39 },
    ]);
    expect(linesOf(files.get("survey-answers.jsonl"))).toMatchObject([{ score: 9, comment: "comment of ada" }]);
    expect(linesOf(files.get("listings.jsonl"))).toMatchObject([{ title: "listing of ada", is_own: true }]);
    expect(linesOf(files.get("sales.jsonl"))).toMatchObject([{ agent_name: "sold by ada", net_usd: 9 }]);
    expect(linesOf(files.get("linked-accounts.jsonl"))).toMatchObject([{ provider_user_id: "github id of ada" }]);
    expect(linesOf(files.get("events.jsonl"))).toMatchObject([{ name: "signup_completed", user_id: owner.id }]);
    const spans = linesOf(files.get("spans.jsonl"));
    expect(spans).toHaveLength(2 * suite.tasks.length);
    for (const { run_id: run, ...span } of spans)
      expect((await read(`/api/v1/runs/${String(run)}/spans`)).items).toContainEqual(span);
    expect(linesOf(files.get("versions.jsonl")).slice(-2), "newest first").toMatchObject([
      { agent_id: own.agent, version: 2, models: [], tools: ["tool 2 of ada"] },
      { agent_id: own.agent, version: 1, models: [], tools: ["tool 1 of ada"] },
    ]);
    const { items: workspaces } = await read("/api/v1/teams");
    expect(linesOf(files.get("workspaces.jsonl"))).toEqual(
      workspaces.map((team) => Object.fromEntries(Object.entries(team).filter(([name]) => name !== "owner_id"))),
    );
  });

  it("has no secret, and nothing that is somebody else's", async () => {
    const whole = [...(await exported(owner)).values()].join("\n");
    expect(own.marks.filter((mark) => !whole.includes(mark))).toEqual([]);
    expect([...own.secrets, ...foreign.secrets, ...foreign.marks].filter((text) => whole.includes(text))).toEqual([]);
  });

  it("has a listing whose agent has become another's, without the name that it has there", async () => {
    const seller = await newUser(service);
    const agent = await addAgent(seller);
    await service.sql(
      "insert into listings (agent_id, seller_id, title, price_usd) values ($1, $2, 'For hire once', 10)",
      [agent, seller.id],
    );
    const named = async () => linesOf((await exported(seller)).get("listings.jsonl"));
    const { body } = await other.call("GET", "/api/v1/teams");
    const [team_id, agents] = [body.items[0].id, `/api/v1/agents/${agent}`];
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [
      team_id,
      seller.id,
    ]);
    expect((await seller.call("POST", `${agents}/transfer-to-workspace`, { team_id })).status).toBe(200);
    const renamed = await other.call("PATCH", agents, { name: "Project Nightingale", is_public: false });
    expect(renamed.status, renamed.text).toBe(200);
    expect(await named()).toMatchObject([{ title: "For hire once", agent_name: "Project Nightingale" }]);
    expect((await seller.call("DELETE", `/api/v1/teams/${team_id}/members/${seller.id}`)).status).toBe(204);
    expect(await named()).toMatchObject([{ title: "For hire once", agent_id: agent, agent_name: null }]);
  });

  it("is had by a session alone", async () => {
    const { body } = await owner.call("POST", "/api/v1/api-keys", { name: "all", scope: "write" });
    for (const who of [caller(service), caller(service, { "x-api-key": body.key })])
      expect([401, 403]).toContain((await who.call("GET", PATH)).status);
  });

  it("takes a statement more for each 5,000 runs, and has each of them once", async () => {
    const count = 5001;
    const user = await newUser(service);
    const agent = await addAgent(user);
    const statements = async () => {
      await service.settled();
      const before = service.counters.snapshot().db.requests;
      const files = await exported(user);
      return { files, requests: service.counters.snapshot().db.requests - before };
    };
    const { requests: least } = await statements();
    await service.sql(plainRuns({ owner: user.id, agent, task: suite.tasks[0] ?? "" }, count));
    const { files, requests } = await statements();
    const ids = linesOf(files.get("runs.jsonl")).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
    expect(requests - least).toBeLessThanOrEqual(2);
  });
});

describe("what breaks while it is read", () => {
  it("breaks the file off, so that half of it never looks whole", async () => {
    const request = new Request(service.url + PATH, { headers: { authorization: `Bearer ${owner.token}` } });
    const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
    const { body } = await service.app.fetch(request, {}, execution);
    const reader = body?.getReader();
    await reader?.read();
    service.faults.set({ service: "db", mode: "down" });
    const toTheEnd = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(toTheEnd()).rejects.toThrow();
    service.faults.set({ service: "db", mode: "none" });
  });
});
