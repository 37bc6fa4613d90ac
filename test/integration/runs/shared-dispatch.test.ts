import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { CALLS } from "../../../functions/service.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addSuite,
  answersRightly,
  bury,
  deliver,
  quietQueueClient,
  range,
  startAgent,
  type TestSuite,
  used,
} from "./support.ts";

const HOST = "agent.example.com";

let service: TestService;
let owner: User;
let endpoint: Consumer;
let suite: TestSuite;
let ahead = 0;
/** Calls of the agent that are open now, and the most there were. */
let open = { now: 0, most: 0 };
/** The runs that the agent was called for, in order. */
const called = (): string[] => endpoint.seen.map(({ body }) => JSON.parse(body.toString()).run_id);

beforeAll(async () => {
  endpoint = await startAgent();
  service = await startService({
    overrides: {
      now: () => new Date(Date.now() + ahead),
      fetch: (input, init) => {
        const { hostname } = new URL(input instanceof Request ? input.url : input);
        return fetch(hostname === HOST ? endpoint.url : input, init);
      },
    },
  });
  service.dns.setZone({ [HOST]: { A: ["93.184.216.34"], AAAA: ["2606:2800:220:1::1"] } });
  owner = await newUser(service, { plan: "enterprise" });
  suite = await addSuite(service, 4);
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

beforeEach(() => {
  service.faults.set({ service: "qstash", mode: "none" });
  service.faults.set({ service: "resolver", mode: "none" });
  service.faults.set({ service: "db", mode: "none" });
  vi.restoreAllMocks();
  quietQueueClient();
  endpoint.seen.length = 0;
  open = { now: 0, most: 0 };
  endpoint.answer = async (request) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    const answer = await answersRightly(request);
    open.now -= 1;
    return answer;
  };
});

interface Sent {
  id: string;
  runs: string[];
}

/** Submits each task of the suite `repeats` times; returns the runs, and the session. */
async function screen(repeats: number, agent: string): Promise<{ runs: string[]; session: string }> {
  const batch = { agent_id: agent, task_ids: suite.tasks, repeats };
  const { status, body, text } = await owner.call("POST", "/api/v1/runs/batch", batch);
  if (status !== 200) throw new Error(text);
  return { runs: body.map(({ id }: { id: string }) => id), session: body[0].screening_session_id };
}

/** The same while QStash takes nothing; also returns the messages that are owed for these runs. */
async function unsent(repeats: number, agent: string): Promise<{ runs: string[]; session: string; messages: Sent[] }> {
  service.faults.set({ service: "qstash", mode: "error" });
  const screened = await screen(repeats, agent);
  await service.settled();
  const its = new Set(screened.runs);
  return { ...screened, messages: (await owedMessages()).filter(({ runs }) => runs.every((id) => its.has(id))) };
}

const owedMessages = () =>
  service.sql<Sent>(`select id, array(select jsonb_array_elements_text(coalesce(body -> 'run_ids', jsonb_build_array(body -> 'run_id')))) as runs
    from outbox where consumer = 'dispatch' order by id`);

const newAgent = () => addAgent(owner, { endpoint: endpoint.url });
const counts = async (session: string) =>
  (await owner.call("GET", `/api/v1/screening-sessions/${session}`)).body.counts;
const attempts = (runs: string[]) =>
  service.sql<{ status: string; attempt: number }>(
    "select distinct status, attempt from runs where id = any($1::uuid[]) order by 1, 2",
    [runs],
  );

/** Lets every lease run out, and the minute's work find what is left. */
async function nextMinute(): Promise<void> {
  service.faults.set({ service: "qstash", mode: "none" });
  await service.sql("update outbox set due_at = now() - interval '1 second'");
  await service.sql(
    "update runs set lease_expires_at = now() - interval '1 second' where lease_expires_at is not null",
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

describe("the messages of a batch", () => {
  it.each([
    [1, 4, 1],
    [4, 8, 2],
    [10, 8, 5],
  ])("of %i times four runs are %i, each of at most %i runs that nobody else has", async (repeats, messages, most) => {
    const { runs, messages: sent } = await unsent(repeats, await newAgent());
    expect(sent).toHaveLength(messages);
    expect(Math.max(...sent.map((one) => one.runs.length))).toBe(most);
    expect(sent.flatMap((one) => one.runs).toSorted()).toEqual(runs.toSorted());
    await nextMinute();
    expect(called().toSorted()).toEqual(runs.toSorted());
  });

  it("have each run carried out once, at most four at a time, with less than two requests to the database each", async () => {
    const agent = await newAgent();
    const before = service.counters.db.requests;
    const { runs, session } = await screen(10, agent);
    await service.settled();
    const requests = service.counters.db.requests - before;
    expect(await counts(session)).toMatchObject({ completed: 40, passed: 40 });
    expect(called().toSorted()).toEqual(runs.toSorted());
    expect(open.most).toBeLessThanOrEqual(4);
    expect(requests / runs.length).toBeLessThan(2);
  });

  it("that come many times at once call the agent once a run", async () => {
    const { runs, messages } = await unsent(5, await newAgent());
    const deliveries = messages.flatMap((message) => range(3).map(() => ({ run_ids: message.runs })));
    const statuses = await Promise.all(deliveries.map((message) => deliver(service, "dispatch", message)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(called().toSorted()).toEqual(runs.toSorted());
    await nextMinute();
    expect(called()).toHaveLength(runs.length);
    expect(await attempts(runs)).toEqual([{ status: "completed", attempt: 1 }]);
  });

  it("are not kept by an agent that is slow: what is left gets deliveries of its own", async () => {
    const { runs, messages } = await unsent(10, await newAgent());
    const [{ runs: first } = { runs: [] }] = messages;
    endpoint.answer = (request) => {
      ahead += 1500;
      return answersRightly(request);
    };
    expect(await deliver(service, "dispatch", { run_ids: first })).toBe(200);
    expect(called()).toEqual(first.slice(0, 1));
    const owed = (await owedMessages()).map((message) => message.runs);
    for (const run of first.slice(1)) expect(owed).toContainEqual([run]);
    await nextMinute();
    expect(called().toSorted()).toEqual(runs.toSorted());
  });

  it("of an agent that takes its time give way to others, and what is left of them gets deliveries of its own", async () => {
    const [slow, other] = [await unsent(10, await newAgent()), await unsent(10, await newAgent())];
    const [slowAnswers, otherAnswers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    endpoint.answer = async (request) => {
      const isSlow = slow.runs.includes(JSON.parse(request.body.toString()).run_id);
      await (isSlow ? slowAnswers : otherAnswers).promise;
      return answersRightly(request);
    };
    const send = ({ messages }: typeof slow) =>
      messages.map(({ runs: run_ids }) => deliver(service, "dispatch", { run_ids }));
    // However long that takes here, no delivery ends by its own time, and none has lost its place before we say so.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    const first = send(slow);
    await vi.waitUntil(() => called().length === CALLS.places, 10_000);
    const second = send(other);
    clock.mockReturnValue(performance.now() + CALLS.holdMs);
    await vi.waitUntil(() => called().length === 2 * CALLS.places, 10_000);
    const began = new Set(called());
    slowAnswers.resolve();
    await Promise.all(first);
    const owed = (await owedMessages()).map(({ runs }) => runs);
    for (const run of slow.runs.filter((id) => !began.has(id))) expect(owed).toContainEqual([run]);
    otherAnswers.resolve();
    await Promise.all(second);
    vi.restoreAllMocks();
    await nextMinute();
    expect(called().toSorted()).toEqual([...slow.runs, ...other.runs].toSorted());
  });
});

describe("a fault of ours in one run", () => {
  it("keeps none of the others that share its message from being carried out, and it is taken up again", async () => {
    const { runs, messages } = await unsent(10, await addAgent(owner, { endpoint: `https://${HOST}/` }));
    const [{ runs: shared } = { runs: [] }] = messages;
    // Of the first name that is looked up.
    service.faults.set({ service: "resolver", mode: "error", count: 1 });
    expect(await deliver(service, "dispatch", { run_ids: shared })).toBe(500);
    expect(called()).toEqual(shared.slice(1));
    await nextMinute();
    expect(called().toSorted()).toEqual(runs.toSorted());
    expect(await attempts(shared.slice(0, 1))).toEqual([{ status: "completed", attempt: 2 }]);
    expect(await attempts(shared.slice(1))).toEqual([{ status: "completed", attempt: 1 }]);
  });

  it("while an answer is kept has neither that run nor the next one lost", async () => {
    const { runs, messages, session } = await unsent(10, await newAgent());
    const [{ runs: shared } = { runs: [] }] = messages;
    endpoint.answer = async (request) => {
      if (endpoint.seen.length === 2) {
        // The next request is the one that keeps this answer: the run before is not being scored any more.
        await vi.waitUntil(async () => (await attempts(shared)).some(({ status }) => status === "completed"), 10_000);
        service.faults.set({ service: "db", mode: "lost", count: 1 });
      }
      return answersRightly(request);
    };
    expect(await deliver(service, "dispatch", { run_ids: shared })).toBe(507);
    expect(called()).toEqual(shared.slice(0, 2));
    expect(await deliver(service, "dispatch", { run_ids: shared })).toBe(200);
    await nextMinute();
    await nextMinute();
    expect(called().toSorted()).toEqual(runs.toSorted());
    expect(await counts(session)).toMatchObject({ completed: 40, passed: 40 });
  });

  it("for the last time ends those that no answer came of, pays them back, and leaves the others", async () => {
    const before = await used(service, "user", owner.id);
    const { messages, session } = await unsent(10, await addAgent(owner, { endpoint: `https://${HOST}/` }));
    const [{ runs: shared } = { runs: [] }] = messages;
    service.faults.set({ service: "resolver", mode: "error", count: 1 });
    await deliver(service, "dispatch", { run_ids: shared });
    const rest = messages.slice(1).flatMap((one) => one.runs);
    await owner.call("POST", `/api/v1/screening-sessions/${session}/cancel`);
    expect(await bury(service, "dispatch", { run_ids: shared })).toBe(200);
    await service.settled();
    expect(await counts(session)).toMatchObject({ failed: 1, completed: shared.length - 1, cancelled: rest.length });
    expect((await used(service, "user", owner.id)) - before).toBe(shared.length - 1);
  });
});

describe("deliveries of one isolate that come together", () => {
  // The rest of the batches.
  afterEach(nextMinute);

  /** The first run of each of eight messages, while the agent answers none before all are called. */
  async function eight(answer = answersRightly): Promise<string[]> {
    const { messages } = await unsent(10, await newAgent());
    const ids = messages.flatMap((message) => message.runs.slice(0, 1));
    const all = Promise.withResolvers<void>();
    endpoint.answer = async (request) => {
      if (endpoint.seen.length === ids.length) all.resolve();
      await all.promise;
      return answer(request);
    };
    expect(ids).toHaveLength(8);
    return ids;
  }
  /** Delivers these at the same time. */
  const together = (ids: string[]) => Promise.all(ids.map((run_id) => deliver(service, "dispatch", { run_id })));

  it("take their runs up, and keep their answers, in fewer requests to the database than they are", async () => {
    const ids = await eight();
    const before = service.counters.db.requests;
    expect(await together(ids)).toEqual(ids.map(() => 200));
    // The first takes its run up alone, the others theirs together; each by itself, these would be two of each run.
    expect(service.counters.db.requests - before).toBeLessThan(1.5 * ids.length);
    await service.settled();
    expect(called().toSorted()).toEqual(ids.toSorted());
    expect(await attempts(ids)).toEqual([{ status: "completed", attempt: 1 }]);
  });

  it("fail alone where the database refuses what one of them wants", async () => {
    const ids = await eight();
    const refused = ids[4] ?? "";
    await service.sql(`create function refuse() returns trigger language plpgsql as
      $$ begin if new.id = '${refused}' then raise exception 'refused'; end if; return new; end $$`);
    await service.sql("create trigger refuse before update on runs for each row execute function refuse()");
    endpoint.answer = answersRightly;
    expect(await together(ids)).toEqual(ids.map((id) => (id === refused ? 500 : 200)));
    await service.settled();
    expect(await attempts(ids)).toEqual([
      { status: "completed", attempt: 1 },
      { status: "queued", attempt: 0 },
    ]);
    await service.sql("drop function refuse cascade");
    expect(await deliver(service, "dispatch", { run_id: refused })).toBe(200);
    expect(called().toSorted()).toEqual(ids.toSorted());
  });

  it("fail alone where one of them is of a kind that this version does not know", async () => {
    const ids = (await eight()).slice(1);
    const unknown = await addAgent(owner, { endpoint: endpoint.url });
    const { runs } = await unsent(1, unknown);
    await service.sql("update agents set agent_protocol = 'of tomorrow' where id = $1", [unknown]);
    endpoint.answer = answersRightly;
    const [strange = ""] = runs;
    await together([...ids, strange]);
    await service.settled();
    expect(called().toSorted()).toEqual(ids.toSorted());
    expect(await attempts([...ids, strange])).toEqual([
      { status: "completed", attempt: 1 },
      { status: "running", attempt: 1 },
    ]);
    expect(service.logs.filter((line) => line.includes("a run can't be read"))).toEqual([
      expect.stringContaining(strange),
    ]);
    await service.sql("update agents set agent_protocol = 'native' where id = $1", [unknown]);
  });

  it("each keep an answer of a megabyte that is escaped at every character", async () => {
    const ids = await eight(() => json(200, { output: '"'.repeat(500_000) }));
    expect(await together(ids)).toEqual(ids.map(() => 200));
    // Too much for one answer of the database, so that the queue has them scored one by one.
    await nextMinute();
    expect(await attempts(ids)).toEqual([{ status: "completed", attempt: 1 }]);
  });
});

describe("cancelling", () => {
  it("the first run of a message that was not sent leaves the others theirs", async () => {
    const { runs, messages } = await unsent(10, await newAgent());
    const [{ runs: shared } = { runs: [] }] = messages;
    expect((await owner.call("POST", `/api/v1/runs/${shared[0]}/cancel`)).status).toBe(200);
    expect((await owedMessages()).map(({ runs: ids }) => ids)).toContainEqual(shared);
    await nextMinute();
    expect(called().toSorted()).toEqual(runs.filter((id) => id !== shared[0]).toSorted());
  });

  it("a session withdraws all messages of its runs", async () => {
    const { session } = await unsent(10, await newAgent());
    expect((await owner.call("POST", `/api/v1/screening-sessions/${session}/cancel`)).status).toBe(200);
    expect(await owedMessages()).toEqual([]);
    await nextMinute();
    expect(called()).toEqual([]);
  });
});
