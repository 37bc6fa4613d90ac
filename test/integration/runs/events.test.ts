import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { type Event, startReceiver } from "../../agents/receiver.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json, type Listening } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  bury,
  deliver,
  from,
  quietQueueClient,
  range,
  startAgent,
  type TestSuite,
} from "./support.ts";
import { SECRET, subscribe } from "../webhooks/support.ts";

const EVERY_TYPE = ["run.completed", "run.failed", "agent.score_updated", "regression.detected"];

let service: TestService;
let owner: User;
let endpoint: Consumer;
let receiver: Listening;
/** An agent whose events its owner is told of, and one of an owner who listens to nothing. */
let agent: string;
let quietOwner: User;
let quietAgent: string;
let suite: TestSuite;
const events: Event[] = [];
const refused: string[] = [];

beforeAll(async () => {
  service = await startService();
  [owner, quietOwner] = [
    await newUser(service, { plan: "enterprise" }),
    await newUser(service, { plan: "enterprise" }),
  ];
  endpoint = await startAgent();
  receiver = await startReceiver({
    secret: SECRET,
    take: (event) => void events.push(event),
    log: (line) => void refused.push(line),
  });
  agent = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
  quietAgent = await addAgent(quietOwner, { endpoint: endpoint.url });
  suite = await addSuite(service, 2);
  await subscribe(owner, receiver.url, { event_types: EVERY_TYPE });
  quietQueueClient();
  await service.settled();
});

afterAll(async () => {
  await receiver.close();
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  events.length = 0;
  endpoint.answer = answersRightly;
});

const task = () => suite.tasks[0] ?? "";

/** What was told, without order, once all that is due is done. */
async function told(): Promise<string[]> {
  await service.settled();
  expect(refused).toEqual([]);
  return events.map(({ type }) => type).toSorted();
}

/** The data of the one event of this type. */
function dataOf(type: string): Record<string, unknown> {
  const found = events.filter((event) => event.type === type);
  expect(found).toHaveLength(1);
  return found[0]?.data ?? {};
}

/** The composite score of an agent on the board. */
async function onBoard(agentId: string): Promise<number> {
  const { body } = await caller(service, from(1)).call("GET", "/api/v1/leaderboard?page_size=100");
  return body.items.find((row: { agent_id: string }) => row.agent_id === agentId)?.composite_score;
}

/** Submits a batch while QStash takes nothing, so that each step is the test's to take. Returns the runs and the session. */
async function heldBatch(who: User, agentId: string, body: object = { task_ids: suite.tasks }) {
  service.faults.set({ service: "qstash", mode: "error" });
  const answer = await who.call("POST", "/api/v1/runs/batch", { agent_id: agentId, ...body });
  if (answer.status !== 200) throw new Error(answer.text);
  await service.settled();
  const runs: string[] = answer.body.map(({ id }: { id: string }) => id);
  return { runs, session: String(answer.body[0].screening_session_id) };
}

/** Lets the minute's work find every message due and every lease expired. */
async function nextMinute(): Promise<void> {
  service.faults.set({ service: "qstash", mode: "none" });
  await service.sql("update outbox set due_at = now() - interval '1 second'");
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

/** The message that has a run scored has failed for the last time. */
const buryScore = (runId: string) => bury(service, "score", runId);

/** Leaves a run as a holder that is gone does for the fifth time, and has the reaper find it. */
async function giveUp(runId: string): Promise<void> {
  await service.sql(
    "update runs set status = 'running', attempt = 5, lease_token = uuidv7(), lease_expires_at = now() where id = $1",
    [runId],
  );
  await service.app.scheduled(EVERY_MINUTE);
}

const cancel = (who: User, runId: string) => who.call("POST", `/api/v1/runs/${runId}/cancel`);

describe("the end of a run", () => {
  it("is told as run.completed, with the run as anybody reads it", async () => {
    const runId = await addRun(owner, agent, task());
    expect(await told()).toContain("run.completed");
    const { body } = await caller(service, from(2)).call("GET", `/api/v1/runs/${runId}`);
    expect(body).toMatchObject({ id: runId, status: "completed", passed: true });
    expect(dataOf("run.completed")).toEqual({ run: body });
  });

  it("is told without anything that only the owner sees, whatever the agent says", async () => {
    const words = "words-of-the-agent";
    endpoint.answer = () => json(200, { output: words, usage: { calls: [{ model: "m", cost_usd: 1e6 }] } });
    await addRun(owner, agent, task(), { private: true });
    endpoint.answer = () => json(500, { error: words });
    await addRun(owner, agent, task(), { private: true });
    expect(await told()).toEqual(expect.arrayContaining(["run.failed"]));
    for (const { data } of events) {
      expect(Object.keys(data)).toEqual(["run"]);
      for (const field of ["scope", "team_id", "failure_detail"]) expect(data["run"]).not.toHaveProperty(field);
      expect(JSON.stringify(data)).not.toContain(words);
      expect(JSON.stringify(data)).not.toContain("six times seven");
    }
  });

  it("stays far below 64 KiB with the longest that a run can show", async () => {
    const model = '"'.repeat(200);
    const calls = range(100).map(() => ({ model, input_tokens: 1e9, output_tokens: 1e9, cost_usd: 999_999.999999 }));
    endpoint.answer = () => json(200, { output: "", usage: { calls } });
    await addRun(owner, agent, task());
    await told();
    expect(dataOf("run.completed")).toMatchObject({ run: { serving_model: model } });
    const [longest] = await service.sql<{ bytes: number }>(
      "select max(octet_length(body)) as bytes from webhook_events",
    );
    expect(longest?.bytes).toBeLessThan(4096);
  });

  it.each<[string, string[], () => Promise<unknown>]>([
    ["a private run", ["run.completed"], () => addRun(owner, agent, task(), { private: true })],
    [
      "a simulated run",
      ["agent.score_updated", "run.completed"],
      async () => addRun(owner, await addAgent(owner), task()),
    ],
    ["a stranger's trial", [], () => addRun(quietOwner, agent, task())],
    [
      "a run that the agent fails",
      ["run.failed"],
      () => {
        endpoint.answer = () => ({ status: 500 });
        return addRun(owner, agent, task(), { private: true });
      },
    ],
    [
      "a run that is cancelled",
      [],
      async () => {
        const { runs } = await heldBatch(owner, agent, { task_ids: [task()] });
        expect((await cancel(owner, runs[0] ?? "")).status).toBe(200);
        await nextMinute();
      },
    ],
    [
      "a run whose message dies",
      ["run.failed"],
      async () => {
        const { runs } = await heldBatch(owner, agent, { task_ids: [task()] });
        expect(await bury(service, "dispatch", runs[0] ?? "")).toBe(200);
        await nextMinute();
        expect(dataOf("run.failed")).toMatchObject({ run: { failure_code: "service_error" } });
      },
    ],
    [
      "a run that the reaper gives up",
      ["run.failed"],
      async () => {
        const { runs } = await heldBatch(owner, agent, { task_ids: [task()] });
        await giveUp(runs[0] ?? "");
        await nextMinute();
        expect(dataOf("run.failed")).toMatchObject({ run: { failure_code: "service_error" } });
      },
    ],
  ])("%s is told as %j", async (_what, types, end) => {
    await end();
    expect(await told()).toEqual(types);
  });

  it("is told once however often its message comes, at once or later", async () => {
    const { runs } = await heldBatch(owner, agent, { task_ids: [task()], private: true });
    const [runId = ""] = runs;
    await deliver(service, "dispatch", runId);
    expect(await Promise.all(range(6).map(() => deliver(service, "score", runId)))).toEqual(range(6).map(() => 200));
    await nextMinute();
    await deliver(service, "score", runId);
    expect(await buryScore(runId)).toBe(200);
    await nextMinute();
    expect(await told()).toEqual(["run.completed"]);
  });
});

describe("an agent that nobody listens to", () => {
  it.each<[string, object | null]>([
    ["without a webhook", null],
    ["with one that is off", { is_active: false }],
    ["with one for another type", { event_types: ["regression.detected"] }],
    ["with one for another agent", { agent_id: true }],
  ])("%s leaves no word in the outbox", async (_what, fields) => {
    const other = fields !== null && "agent_id" in fields ? { agent_id: await addAgent(quietOwner) } : {};
    if (fields !== null)
      await subscribe(quietOwner, receiver.url, { event_types: EVERY_TYPE.slice(0, 3), ...fields, ...other });
    const { runs } = await heldBatch(quietOwner, quietAgent, { task_ids: [task()] });
    for (const consumer of ["dispatch", "score"]) expect(await deliver(service, consumer, runs[0] ?? "")).toBe(200);
    expect(await service.sql("select body from outbox where consumer = 'announce'")).toEqual([]);
    await nextMinute();
    expect(await told()).toEqual([]);
  });
});

describe("a score", () => {
  const changes = () => events.filter(({ type }) => type === "agent.score_updated").map(({ data }) => data);

  it("that runs change one after the other is told by each of them, each from where the one before left it", async () => {
    const rising = await addAgent(owner, { endpoint: endpoint.url });
    const runs: string[] = [];
    for (const _ of range(10)) {
      runs.push(await addRun(owner, rising, task()));
      await told();
    }
    const scores = changes().map(({ score }) => Number(score));
    expect(scores).toHaveLength(10);
    expect(scores).toEqual(scores.toSorted((a, b) => a - b));
    expect(changes().map(({ previous_score: score }) => score)).toEqual([null, ...scores.slice(0, -1)]);
    expect(scores.at(-1)).toBe(await onBoard(rising));
    expect(changes().map((data) => data["run_id"])).toEqual(runs);

    // Ten passes of ten: one more changes nothing.
    events.length = 0;
    await addRun(owner, rising, task());
    expect(await told()).toEqual(["run.completed"]);
  });

  it("that runs change together is told once a group, by its last run, each from where the one with the id before left it", async () => {
    const rising = await addAgent(owner, { endpoint: endpoint.url });
    let asked = 0;
    endpoint.answer = (request) => ((asked += 1) % 3 === 0 ? json(200, { output: "no" }) : answersRightly(request));
    const batch = { agent_id: rising, task_ids: suite.tasks, repeats: 10 };
    const { body } = await owner.call("POST", "/api/v1/runs/batch", batch);
    await told();
    // Ids alone tell which one came later: groups wait for each other with their times in hand.
    events.sort((a, b) => (a.id < b.id ? -1 : 1));
    const steps = changes();
    const scores = steps.map(({ score }) => Number(score));
    expect(steps.map(({ previous_score: score }) => score)).toEqual([null, ...scores.slice(0, -1)]);
    expect(scores.at(-1)).toBe(await onBoard(rising));
    const runs = new Set(body.map(({ id }: { id: string }) => id));
    expect(steps.filter((data) => !runs.has(data["run_id"]))).toEqual([]);
    expect(new Set(steps.map((data) => data["run_id"])).size).toBe(steps.length);
  });
});

/** When a session finished; null while it has not. */
async function finishedAt(session: string): Promise<Date | null> {
  const [row] = await service.sql<{ finished_at: Date | null }>(
    "select finished_at from screening_sessions where id = $1",
    [session],
  );
  return row?.finished_at ?? null;
}

describe("a session", () => {
  // An agent that may send telemetry: its runs wait to be scored, and each step is the test's to take.
  let traced = "";
  beforeAll(async () => {
    traced = await addAgent(quietOwner, { endpoint: endpoint.url });
    expect((await quietOwner.call("POST", `/api/v1/agents/${traced}/otlp-token`)).status).toBe(200);
  });

  const ENDS = {
    score: (runId: string) => deliver(service, "score", runId),
    cancel: (runId: string) => cancel(quietOwner, runId),
    bury: buryScore,
    giveUp,
  };
  type End = keyof typeof ENDS;
  /** Has a run's agent called, unless it is to be cancelled, which only a queued one can be. */
  const prepare = async (end: End, runId: string) => {
    if (end !== "cancel") await deliver(service, "dispatch", runId);
  };

  it.each(Object.keys(ENDS) as End[])("is finished with its last run and not before: %s", async (last) => {
    const { runs, session } = await heldBatch(quietOwner, traced);
    const [first = "", second = ""] = runs;
    await prepare("score", first);
    await prepare(last, second);
    await deliver(service, "score", first);
    expect(await finishedAt(session)).toBeNull();
    await ENDS[last](second);
    const at = await finishedAt(session);
    expect(at).toBeInstanceOf(Date);
    for (const again of ["score", "cancel", "bury"] as const) await ENDS[again](second);
    expect(await finishedAt(session)).toEqual(at);
  });

  it.each<[first: End, second: End]>([
    ["score", "score"],
    ["score", "cancel"],
    ["score", "bury"],
    ["cancel", "bury"],
  ])("is finished when its last runs end side by side: %s, %s", async (first, second) => {
    const sessions = [];
    for (const _ of range(5)) sessions.push(await heldBatch(quietOwner, traced));
    const ends = sessions.flatMap(({ runs }) =>
      runs.map((runId, index) => ({ runId, end: index === 0 ? first : second })),
    );
    await Promise.all(ends.map(({ end, runId }) => prepare(end, runId)));
    await Promise.all(ends.map(({ end, runId }) => ENDS[end](runId)));
    const finished = await Promise.all(sessions.map(({ session }) => finishedAt(session)));
    expect(finished).toEqual(sessions.map(() => expect.any(Date)));
  });
});
