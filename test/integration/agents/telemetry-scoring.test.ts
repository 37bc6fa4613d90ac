import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { architectureHash, architectureOf } from "../../../shared/telemetry/architecture.ts";
import { readTrace } from "../../../shared/telemetry/trace.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  callbackIn,
  deliver,
  KEY,
  range,
  startAgent,
  type TestSuite,
} from "../runs/support.ts";
import { agentSpan, type Sent, storeSpans } from "./telemetry-spans.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let suite: TestSuite;
/** An agent that has a receiver token. */
let agent: string;

/** How far the clocks of service and queue are ahead of the machine's, in milliseconds. */
let ahead = 0;

/** What the agent's answer holds, and what its spans tell. */
let answer: object;
let spans: Sent[];

const chat = (fields: Partial<Sent> = {}) =>
  agentSpan({ kind: "model", name: "chat", provider: "openai", model: "gpt-5-mini", ...fields });
const tool = (name: string, fields: Partial<Sent> = {}) => agentSpan({ kind: "tool", name, ...fields });

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  // The spans arrive before the answer; a test that wants them later leaves them out here.
  endpoint = await startAgent(async ({ headers }) => {
    await storeSpans(service, String(headers["x-service-run-id"]), spans);
    return json(200, answer);
  });
  agent = await newAgent();
  suite = await addSuite(service, 1, { columns: { expected_tool_calls: 1 } });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  answer = { output: KEY };
  spans = [];
});

async function newAgent(): Promise<string> {
  const id = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
  const { status } = await owner.call("POST", `/api/v1/agents/${id}/otlp-token`);
  expect(status).toBe(200);
  return id;
}

/** A run of the agent that has been answered and waits. */
async function answered(fields: object = {}, of = agent): Promise<string> {
  const runId = await addRun(owner, of, suite.tasks[0] ?? "", fields);
  await service.settled();
  return runId;
}

/** A run of the agent, to its end. */
async function scored(fields: object = {}, of = agent): Promise<string> {
  const runId = await answered(fields, of);
  expect(await deliver(service, "score", runId)).toBe(200);
  return runId;
}

/** Lets the time pass in which spans are waited for, and what is due then happen. */
async function wait(): Promise<void> {
  ahead += 7500;
  await service.broker.advance(7500);
  await service.settled();
}

const read = async (runId: string, who: Caller = owner) => (await who.call("GET", `/api/v1/runs/${runId}`)).body;

/** Outcome and metadata of the phases that telemetry decides, and of what follows. */
async function facts(runId: string, who: Caller = anonymous): Promise<unknown[]> {
  const { items } = (await who.call("GET", `/api/v1/runs/${runId}/phases`)).body;
  return items.slice(-6).map(({ phase, outcome, metadata }: Record<string, unknown>) => [phase, outcome, metadata]);
}

const versions = (of = agent) =>
  service.sql<{ version: number; public_version: number | null; tools: string[] }>(
    "select version, public_version, tools from architecture_versions where agent_id = $1 order by version",
    [of],
  );

describe("an answered run of an agent that sends telemetry", () => {
  it("waits six seconds for its spans, untouched by sweeper and reaper, and is then scored with them", async () => {
    const runId = await answered();
    const [owed] = await service.sql<{ wait: number }>(
      `select extract(epoch from o.not_before - r.answered_at)::float as wait
       from outbox o join runs r on r.id = o.id where o.consumer = 'score' and r.id = $1`,
      [runId],
    );
    expect(owed).toEqual({ wait: 6 });
    await service.sql("update outbox set due_at = now() where id = $1", [runId]);
    await service.app.scheduled("* * * * *");
    await service.settled();
    expect(await read(runId)).toMatchObject({ status: "running", passed: null });
    await storeSpans(service, runId, [chat()]);
    await wait();
    expect(await read(runId)).toMatchObject({ status: "completed", passed: true, serving_model: "gpt-5-mini" });
  });

  it("waits when it reports back, too", async () => {
    let token = "";
    const late = await startAgent(({ body }) => {
      ({ token } = callbackIn(body));
      return { status: 202 };
    });
    const of = await addAgent(owner, { endpoint: late.url });
    await owner.call("POST", `/api/v1/agents/${of}/otlp-token`);
    const runId = await answered({}, of);
    const report = { status: "completed", output: KEY };
    await anonymous.call("PATCH", `/api/v1/runs/${runId}`, report, { authorization: `Bearer ${token}` });
    await service.settled();
    expect((await read(runId)).status).toBe("running");
    await wait();
    expect((await read(runId)).status).toBe("completed");
    await late.stop();
  });

  it("can't be cancelled while it waits", async () => {
    const runId = await answered();
    expect((await owner.call("POST", `/api/v1/runs/${runId}/cancel`)).status).toBe(409);
    await wait();
    expect((await read(runId)).status).toBe("completed");
  });

  it("is scored without spans that come too late, as if there were none", async () => {
    answer = { output: KEY, usage: { cost_usd: 0.002 } };
    const runId = await scored();
    const before = [await read(runId), await facts(runId)];
    await storeSpans(service, runId, [chat({ cost_usd: 1 }), tool("search")]);
    await deliver(service, "score", runId);
    expect([await read(runId), await facts(runId)]).toEqual(before);
    expect(before).toMatchObject([
      { evidence_cost_source: "runner_aggregate", tool_calls_made: 0, architecture_version: null },
      [
        ["output_evaluated", "succeeded", { passed: true }],
        ["telemetry_collected", "unavailable", {}],
        ["architecture_hashed", "unavailable", {}],
        ["architecture_compared", "not_applicable", {}],
        ["scored", "succeeded", {}],
        ["evidence_signed", "succeeded", {}],
      ],
    ]);
  });

  it("takes four round trips to the database in all consumers and none to Redis, like any other", async () => {
    const of = await newAgent();
    await wait();
    service.counters.reset();
    spans = [chat(), tool("search")];
    await answered({}, of);
    await wait();
    // As in runs-budget.test.ts: 2 for the submission and the deletion of its outbox row.
    expect(service.counters.snapshot()).toMatchObject({ db: { requests: 2 + 4 }, redis: { requests: 1 } });
  });
});

it("does not wait for an agent without a receiver token", async () => {
  const runId = await answered({}, await addAgent(owner, { endpoint: endpoint.url }));
  expect((await read(runId)).status).toBe("completed");
});

describe("spans are evidence", () => {
  it("where the answer says nothing: calls, tokens, model and tool calls; and what they show is signed", async () => {
    const of = await newAgent();
    const [first, second, third] = [
      chat({ input_tokens: 1000, output_tokens: 100 }),
      chat({ cost_usd: 0.01 }),
      tool("a"),
    ];
    spans = [first, second, third, tool("b", { parent_span_id: third.span_id })];
    const runId = await scored({}, of);
    expect(await read(runId, anonymous)).toMatchObject({
      evidence_cost_source: "mixed",
      evidence_priced_call_count: 2,
      evidence_total_call_count: 2,
      evidence_cost_partial: false,
      serving_model: "gpt-5-mini",
      input_tokens: 1000,
      output_tokens: 100,
      tool_calls_made: 2,
      axes: { tool_efficiency: 0.5 },
      architecture_version: 1,
    });
    const shown = architectureOf(readTrace(runId, spans));
    expect(shown).toMatchObject({ models: ["openai/gpt-5-mini"], tools: ["a", "b"] });
    const { statement } = (await anonymous.call("GET", `/api/v1/runs/${runId}/evidence`)).body;
    const hash = shown === null ? null : architectureHash(shown);
    expect(statement.credentialSubject).toMatchObject({ architecture_hash: hash, cost: { source: "mixed" } });
    expect(await facts(runId)).toEqual(
      expect.arrayContaining([
        ["telemetry_collected", "succeeded", { spans: 4 }],
        ["architecture_hashed", "succeeded", { architecture_hash: hash }],
        ["architecture_compared", "not_applicable", {}],
      ]),
    );
  });

  it("once for a call that two instrumentations saw beside each other", async () => {
    const tokens = { input_tokens: 1000, output_tokens: 100 };
    spans = [
      chat({ scope: "11111111", provider: null, ...tokens }),
      chat({ scope: "22222222", model: "gpt-5-mini-2025-08-07", ...tokens }),
    ];
    expect(await read(await scored({}, await newAgent()))).toMatchObject({ evidence_total_call_count: 1, ...tokens });
  });

  it("but never the answer: a tool call that was only traced does not pass", async () => {
    answer = { output: "I called the tool." };
    spans = [tool(KEY)];
    expect(await read(await scored())).toMatchObject({ passed: false, tool_calls_made: 1 });
  });

  it("of a run that failed, too", async () => {
    endpoint.answer = async ({ headers }) => {
      await storeSpans(service, String(headers["x-service-run-id"]), [chat({ cost_usd: 0.5 })]);
      return { status: 500 };
    };
    const runId = await scored();
    endpoint.answer = async ({ headers }) => {
      await storeSpans(service, String(headers["x-service-run-id"]), spans);
      return json(200, answer);
    };
    expect(await read(runId)).toMatchObject({
      failure_code: "agent_http_error",
      evidence_cost_usd: 0.5,
      tool_calls_made: null,
    });
  });
});

describe("a version", () => {
  it("holds for runs that show a part of it, and gives way to the next when one shows more", async () => {
    const of = await newAgent();
    const shows: [Sent[], object][] = [
      [[chat(), tool("a")], {}],
      [[chat()], { changed: false, version: 1 }],
      [[chat(), tool("b")], { changed: true, version: 2 }],
      [[chat(), tool("a")], { changed: false, version: 2 }],
      [[chat({ model: "gpt-5" })], { changed: true, version: 3 }],
      [[tool("b"), chat()], { changed: false, version: 2 }],
    ];
    for (const [told, compared] of shows) {
      spans = told;
      const runId = await scored({}, of);
      const outcome = "version" in compared ? "succeeded" : "not_applicable";
      expect(await facts(runId)).toContainEqual(["architecture_compared", outcome, compared]);
      expect(await read(runId)).toMatchObject({ architecture_version: "version" in compared ? compared.version : 1 });
    }
    expect(await versions(of)).toMatchObject([{ tools: ["a"] }, { tools: ["a", "b"] }, { tools: [] }]);
  });

  it("is minted once by runs that end at the same time, and none is lost", async () => {
    const of = await newAgent();
    spans = [chat(), tool("a")];
    const same = await Promise.all(range(4).map(() => addRun(owner, of, suite.tasks[0] ?? "")));
    await service.settled();
    await Promise.all(same.map((runId) => deliver(service, "score", runId)));
    expect(await versions(of)).toEqual([{ version: 1, public_version: 1, tools: ["a"] }]);

    const ids: string[] = [];
    for (const name of ["b", "c", "d"]) {
      spans = [chat(), tool(name)];
      ids.push(await answered({}, of));
    }
    // Twice each, as the queue may.
    const statuses = await Promise.all([...ids, ...ids].map((runId) => deliver(service, "score", runId)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const numbers = await Promise.all(ids.map(async (runId) => (await read(runId)).architecture_version));
    expect(new Set(numbers)).toEqual(new Set([2, 3, 4]));
    // As if they had ended one after the other.
    expect((await versions(of)).map(({ tools }) => tools.length)).toEqual([1, 2, 3, 4]);
    expect((await versions(of)).at(-1)?.tools).toEqual(["a", "b", "c", "d"]);
  });
});

describe("private runs", () => {
  /** A run as it stands when it waits, put there without its call. */
  async function put(of: string, isPrivate: boolean, told: Sent[]): Promise<string> {
    const [run] = await service.sql<{ id: string }>(
      `with run as (
         insert into runs (agent_id, task_id, status, trigger, scope, is_private, user_id, started_at, answered_at, latency_ms)
         values ($1, $2, 'running', 'manual', 'personal', $3, $4, now(), now(), 5) returning id
       ), exchange as (
         insert into run_exchanges (run_id, request, request_salt, response, response_salt, answer)
         select id, 'q', repeat('s', 32)::bytea, 'a', repeat('s', 32)::bytea, $5 from run
       ) select id from run`,
      [of, suite.tasks[0], isPrivate, owner.id, JSON.stringify(answer)],
    );
    const runId = run?.id ?? "";
    await storeSpans(service, runId, told);
    expect(await deliver(service, "score", runId)).toBe(200);
    return runId;
  }

  const step = fc.record({
    isPrivate: fc.boolean(),
    model: fc.option(fc.constantFrom("m", "n"), { nil: null }),
    tools: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
  });
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
  const told = ({ model, tools }: Step) => [
    ...(model === null ? [] : [chat({ model })]),
    ...tools.map((name) => tool(name)),
  ];

  /** What anybody sees of an agent's public runs after such a history, but for ids and times. */
  async function shownAfter(history: Step[]): Promise<unknown> {
    const of = await addAgent(owner, { endpoint: endpoint.url });
    const shown: unknown[] = [];
    for (const next of history) {
      const runId = await put(of, next.isPrivate, told(next));
      if (next.isPrivate) {
        expect((await anonymous.call("GET", `/api/v1/runs/${runId}`)).status).toBe(404);
        continue;
      }
      const { architecture_version: version } = await read(runId, anonymous);
      const { statement } = (await anonymous.call("GET", `/api/v1/runs/${runId}/evidence`)).body;
      shown.push([version, statement.credentialSubject.architecture_hash, await facts(runId)]);
    }
    const lineage = await service.sql(
      `select public_version, architecture_hash, models, tools, edges from architecture_versions
       where agent_id = $1 and public_version is not null order by 1`,
      [of],
    );
    return { shown, lineage };
  }

  it("change nothing that public ones show: no number, no hash, no comparison, no version", async () => {
    const telling: Step[] = [
      { isPrivate: true, model: "m", tools: ["a"] },
      { isPrivate: false, model: "m", tools: ["b"] },
      { isPrivate: true, model: "n", tools: [] },
      { isPrivate: true, model: "m", tools: ["c"] },
      { isPrivate: false, model: "m", tools: ["c"] },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (history) => {
        const alike = await shownAfter(history.filter(({ isPrivate }) => !isPrivate));
        expect(await shownAfter(history)).toEqual(alike);
      }),
      { numRuns: 8, examples: [[telling]] },
    );
  });

  it("are numbered among all runs for the owner and members, and have no number for others", async () => {
    const of = await addAgent(owner, { endpoint: endpoint.url });
    const hidden = await put(of, true, [chat(), tool("a")]);
    const open = await put(of, false, [chat(), tool("b")]);
    const grown = await put(of, true, [chat(), tool("b"), tool("c")]);
    expect((await read(hidden)).architecture_version).toBe(1);
    expect((await read(open)).architecture_version).toBe(2);
    expect((await read(open, anonymous)).architecture_version).toBe(1);
    expect(await facts(grown, owner)).toContainEqual([
      "architecture_compared",
      "succeeded",
      { changed: true, version: 3 },
    ]);
    expect(await versions(of)).toEqual([
      { version: 1, public_version: null, tools: ["a"] },
      { version: 2, public_version: 1, tools: ["b"] },
      { version: 3, public_version: null, tools: ["b", "c"] },
    ]);
  });
});
