import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor } from "../../stack/visitor.ts";
import { addAgent, addSuite, range } from "../runs/support.ts";
import { insertRun, insertSpan, insertVersion } from "./telemetry-support.ts";

const READS = ["blueprint", "blueprint/versions", "frontier"] as const;
const NOBODYS = "01938e7a-0000-7000-8000-000000000009";
const WHO = ["anonymous", "stranger", "owner", "member", "viewer"] as const;
const INSIDE: readonly string[] = ["owner", "member", "viewer"];

let service: TestService;
let owner: User;
let team: string;
let task: string;
let callers: Record<(typeof WHO)[number], Caller>;

beforeAll(async () => {
  service = await startService();
  const users = await Promise.all(
    ["team", "free", "free", "free"].map((plan) => newUser(service, { plan: plan as "team" })),
  );
  const [lead, member, viewer, stranger] = users as [User, User, User, User];
  owner = lead;
  callers = { anonymous: caller(service), stranger, owner, member, viewer };
  const [row] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ('T', $1) returning id", [
    owner.id,
  ]);
  team = row?.id ?? "";
  for (const [user, role] of [
    [owner, "owner"],
    [member, "member"],
    [viewer, "viewer"],
  ] as const) {
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [team, user.id, role]);
  }
  [task = ""] = (await addSuite(service, 1)).tasks;
});

afterAll(() => service.stop());

const read = async (agent: string, what: (typeof READS)[number], who: Caller = callers.anonymous) =>
  (await who.call("GET", `/api/v1/agents/${agent}/${what}`)).body;
const spanId = (number: number) => number.toString(16).padStart(16, "0");

describe("blueprint, timeline and frontier", () => {
  it.each(READS)(
    "%s of a private agent is there for its workspace, and a 404 like any other for others",
    async (what) => {
      const agent = await addAgent(owner, { team_id: team, is_public: false });
      const ask = async (who: Caller, id: string) => {
        const answer = await who.call("GET", `/api/v1/agents/${id}/${what}`, undefined, { "x-request-id": "same" });
        return [answer.status, answer.text];
      };
      for (const name of WHO) {
        if (INSIDE.includes(name)) expect((await ask(callers[name], agent))[0], name).toBe(200);
        else expect(await ask(callers[name], agent), name).toEqual(await ask(callers[name], NOBODYS));
      }
    },
  );

  it.each(WHO)("tell %s of private runs, versions and variants only from inside the workspace", async (name) => {
    const inside = INSIDE.includes(name);
    const root = await addAgent(owner, { team_id: team });
    const open = await addAgent(owner, { team_id: team, variant_of: root });
    const hidden = await addAgent(owner, { team_id: team, variant_of: root, is_public: false });
    const run = (columns: Record<string, unknown>) => insertRun(service, root, task, columns);
    const first = await insertVersion(service, root, 1, null, { models: ["a"] });
    const second = await insertVersion(service, root, 2, 1, { models: ["b"], tools: ["search"] });
    const early = await run({ is_private: true, architecture_version: 1, passed: false });
    const shown = await run({ architecture_version: 2, architecture_public_version: 1 });
    const late = await run({
      is_private: true,
      architecture_version: 2,
      architecture_public_version: 1,
      passed: false,
    });
    await insertSpan(service, root, early, spanId(1), { model: "a" });
    await insertSpan(service, root, shown, spanId(1), { model: "b" });

    const blueprint = await read(root, "blueprint", callers[name]);
    expect(blueprint.window).toEqual(inside ? [late, shown, early] : [shown]);
    expect(blueprint.models.map((model: { name: string }) => model.name)).toEqual(inside ? ["a", "b"] : ["b"]);
    expect(blueprint.architecture_hash).toBe(second);

    const { items } = await read(root, "blueprint/versions", callers[name]);
    const b = { models_added: ["b"], tools_added: ["search"], tools_removed: [] };
    expect(items).toMatchObject(
      inside
        ? [
            {
              version: 2,
              architecture_hash: second,
              run_count: 2,
              pass_rate: 0.5,
              changes: { ...b, models_removed: ["a"] },
            },
            { version: 1, architecture_hash: first, run_count: 1, pass_rate: 0, changes: { models_added: ["a"] } },
          ]
        : [
            {
              version: 1,
              architecture_hash: second,
              run_count: 1,
              pass_rate: 1,
              changes: { ...b, models_removed: [] },
            },
          ],
    );
    expect(items).toHaveLength(inside ? 2 : 1);

    for (const member of inside ? [root, open, hidden] : [root, open]) {
      const frontier = await read(member, "frontier", callers[name]);
      expect(frontier.root_id).toBe(root);
      expect(frontier.members.map((one: { agent_id: string }) => one.agent_id)).toEqual(
        inside ? [root, open, hidden] : [root, open],
      );
    }
  });

  it.each(READS)("%s takes one round trip to the database", async (what) => {
    const agent = await addAgent(owner);
    for (const who of [callers.anonymous, callers.owner]) {
      await service.settled();
      service.counters.reset();
      await read(agent, what, who);
      expect(service.counters.db.requests).toBe(1);
    }
  });

  it("are empty for an agent that never ran", async () => {
    const agent = await addAgent(owner);
    expect(await read(agent, "blueprint")).toEqual({
      agent_id: agent,
      run_count: 0,
      window: [],
      models: [],
      tools: [],
      operations: [],
      edges: [],
      mean_spans_per_run: 0,
      telemetry_runs: 0,
      architecture_hash: null,
    });
    expect(await read(agent, "blueprint/versions")).toEqual({ agent_id: agent, items: [] });
  });
});

describe("the blueprint", () => {
  it("looks at the ten most recent ended runs, with or without telemetry", async () => {
    const agent = await addAgent(owner);
    const ended: string[] = [];
    for (const number of range(12)) {
      const run = await insertRun(service, agent, task, { status: number % 2 === 0 ? "completed" : "failed" });
      ended.unshift(run);
      if (number < 10) await insertSpan(service, agent, run, spanId(1), { kind: "tool", name: `tool ${number}` });
    }
    for (const status of ["queued", "running", "cancelled"]) {
      const run = await insertRun(service, agent, task, { status, passed: null, finalized_at: null });
      await insertSpan(service, agent, run, spanId(1), { kind: "tool", name: status });
    }
    const { window, run_count, telemetry_runs, tools } = await read(agent, "blueprint");
    expect(window).toEqual(ended.slice(0, 10));
    expect([run_count, telemetry_runs]).toEqual([10, 8]);
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual(range(8).map((number) => `tool ${number + 2}`));
  });

  it("counts each call once, names who made it, and sums up what is known of it", async () => {
    const agent = await addAgent(owner);
    const [first, second] = [await insertRun(service, agent, task), await insertRun(service, agent, task)];
    const span = (run: string, id: number, parent: number | null, columns: object) =>
      insertSpan(service, agent, run, spanId(id), {
        parent_span_id: parent === null ? null : spanId(parent),
        ...columns,
      });
    const model = { kind: "model", operation: "chat", provider: "acme", model: "large" };
    await span(first, 1, null, { kind: "agent", operation: "invoke_agent", name: "planner" });
    await span(first, 2, 1, { kind: "other", name: "step" });
    // A wrapper's span and the provider's of the same call.
    await span(first, 3, 2, { ...model, input_tokens: 100, output_tokens: 10 });
    await span(first, 4, 3, { ...model, input_tokens: 100, output_tokens: 10 });
    await span(first, 5, 1, { kind: "tool", operation: "execute_tool", name: "search", duration_ms: 10, failed: true });
    await span(first, 6, 1, { kind: "tool", operation: "execute_tool", name: "search", duration_ms: 20 });
    // What a framework and its client say of one call, neither within the other.
    await span(second, 1, null, { ...model, scope: "11111111", input_tokens: 7 });
    await span(second, 5, null, { ...model, scope: "22222222", provider: null, input_tokens: 7 });
    await span(second, 2, null, { kind: "tool", name: "search", duration_ms: 30.5 });
    await span(second, 3, null, { kind: "model", name: "call" });
    // Its parent never came: nobody knows who called it.
    await span(second, 4, 99, { kind: "tool", name: "read", duration_ms: 12 });
    expect(await read(agent, "blueprint")).toEqual({
      agent_id: agent,
      run_count: 2,
      window: [second, first],
      models: [
        { name: "large", provider: "acme", calls: 2, input_tokens: 107, output_tokens: 10 },
        { name: "unknown", provider: null, calls: 1, input_tokens: 0, output_tokens: 0 },
      ],
      tools: [
        { name: "search", calls: 3, error_rate: 0.333333, mean_duration_ms: 20 },
        { name: "read", calls: 1, error_rate: 0, mean_duration_ms: 12 },
      ],
      operations: [
        { name: "chat", count: 4 },
        { name: "execute_tool", count: 2 },
        { name: "invoke_agent", count: 1 },
      ],
      edges: [
        { from: "planner", to: "search", count: 2 },
        { from: "agent", to: "acme/large", count: 1 },
        { from: "agent", to: "planner", count: 1 },
        { from: "agent", to: "search", count: 1 },
        { from: "planner", to: "acme/large", count: 1 },
      ],
      mean_spans_per_run: 5.5,
      telemetry_runs: 2,
      architecture_hash: null,
    });
  });
});

describe("the timeline", () => {
  it("dates each version by its runs, and leaves out those that nothing ran on", async () => {
    const agent = await addAgent(owner);
    for (const number of [1, 2, 3]) await insertVersion(service, agent, number, number, { models: [`m${number}`] });
    const day = (number: number) => `2026-11-0${number}T00:00:00.000Z`;
    const run = (version: number, date: string, columns: object = {}) =>
      insertRun(service, agent, task, {
        architecture_version: version,
        architecture_public_version: version,
        finalized_at: date,
        ...columns,
      });
    for (const date of [3, 1, 2]) await run(1, day(date), { passed: date !== 1 });
    // Our own fault says nothing about the agent.
    await run(3, day(5), { status: "failed", failure_code: "service_error", passed: null });
    expect((await read(agent, "blueprint/versions")).items).toMatchObject([
      { version: 3, run_count: 1, pass_rate: null, changes: { models_added: ["m3"], models_removed: ["m1"] } },
      { version: 1, run_count: 3, first_seen_at: day(1), last_seen_at: day(3), changes: { models_added: ["m1"] } },
    ]);
  });

  it("shows the 50 newest versions, the oldest of them against the one before", async () => {
    const agent = await addAgent(owner);
    for (const number of range(52).map((index) => index + 1)) {
      await insertVersion(service, agent, number, number, { models: ["m"], tools: [`t${number}`] });
      await insertRun(service, agent, task, { architecture_version: number, architecture_public_version: number });
    }
    const { items } = await read(agent, "blueprint/versions");
    expect(items.map((item: { version: number }) => item.version)).toEqual(range(50).map((index) => 52 - index));
    expect(items.at(-1).changes).toEqual({
      models_added: [],
      models_removed: [],
      tools_added: ["t3"],
      tools_removed: ["t2"],
    });
  });
});

describe("the agent's page", () => {
  const page = async (agent: string, who: Caller) => {
    const { headers, text } = await who.call("GET", `/agents/${agent}`);
    return { text, policy: headers.get("content-security-policy") };
  };

  it("draws and lists what public runs show, and to its owner what private ones show, too", async () => {
    const agent = await addAgent(owner);
    const shown = await insertRun(service, agent, task, { architecture_version: 2, architecture_public_version: 1 });
    const hidden = await insertRun(service, agent, task, { is_private: true, architecture_version: 1 });
    await insertVersion(service, agent, 1, null, { tools: ["hidden-tool"] });
    await insertVersion(service, agent, 2, 1, { tools: ["shown-tool"] });
    await insertSpan(service, agent, shown, spanId(1), { kind: "tool", name: "shown-tool" });
    await insertSpan(service, agent, hidden, spanId(1), { kind: "tool", name: "hidden-tool" });
    const { text } = await page(agent, callers.anonymous);
    expect(text).toContain("of its 1 most recent public run,");
    expect(text).toContain("shown-tool: tool, 1 call");
    expect(text).toContain("agent called shown-tool: 1");
    expect(text).toContain("+ tools: shown-tool");
    expect(text).not.toContain("hidden-tool");
    const own = (await page(agent, caller(service, { cookie: `service_session=${owner.token}` }))).text;
    expect(own).toContain("of its 2 most recent runs, private ones among them");
    expect(own).toContain("hidden-tool: tool, 1 call");
  });

  it("shows names as they are, whatever an agent calls its tools, and loads its badge alone", async () => {
    const agent = await addAgent(owner);
    const name = `"><script>alert(1)</script>${"\u{1f600}".repeat(30)}`;
    await insertSpan(service, agent, await insertRun(service, agent, task), spanId(1), { kind: "tool", name });
    const { text, policy } = await page(agent, callers.anonymous);
    expect(text).toContain("&lt;script&gt;");
    // The text to paste beside the badge is shown, not taken; of scripts there is the one that tells times.
    const others = text.replaceAll(/<pre>[^<]*<\/pre>|<script type="module" src="\/times\.js\?v=\w+"><\/script>/g, "");
    expect(others).not.toMatch(
      /<script|\bsrc=(?!"\/api\/v1\/agents\/[0-9a-f-]+\/badge\.svg")|\bstyle=|\bon[a-z]+=|url\((?!#)|�/,
    );
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });
});

it("is there, and so is its agent's page, however many spans the runs have and however long their names", async () => {
  const agent = await addAgent(owner, { is_public: true });
  for (const _run of range(10)) await insertRun(service, agent, task);
  await service.sql(
    `insert into spans (run_id, span_id, agent_id, kind, name, operation, provider, model, input_tokens, started_at, duration_ms)
     select r.id, lpad(to_hex(n), 16, '0'), r.agent_id, 'model', q, q, q, q, 1, now(), 1
     from runs r, generate_series(1, 600) n, repeat('"', 120) q where r.agent_id = $1`,
    [agent],
  );
  const name = '"'.repeat(120);
  expect(await read(agent, "blueprint")).toMatchObject({
    run_count: 10,
    telemetry_runs: 10,
    mean_spans_per_run: 600,
    models: [{ name, provider: name, calls: 6000, input_tokens: 6000 }],
    operations: [{ name, count: 6000 }],
  });
  const { html } = await newVisitor(service).open(`/agents/${agent}`);
  expect(html).toContain("&quot;".repeat(120));
  // What is not large is read at once.
  await service.sql("delete from spans where agent_id = $1 and span_id > lpad(to_hex(100), 16, '0')", [agent]);
  await service.settled();
  service.counters.reset();
  expect(await read(agent, "blueprint")).toMatchObject({ telemetry_runs: 10, mean_spans_per_run: 100 });
  expect(service.counters.snapshot().db.requests).toBe(1);
});
