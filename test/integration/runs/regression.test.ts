import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { regression } from "../../../shared/scoring/regression.ts";
import { type Event, startReceiver } from "../../agents/receiver.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json, type Listening } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, answersRightly, startAgent, type TestSuite } from "./support.ts";
import { SECRET, subscribe } from "../webhooks/support.ts";

let service: TestService;
let owner: User;
let endpoint: Consumer;
let receiver: Listening;
let suite: TestSuite;
/** Another agent of the same owner. */
let other: string;
const events: Event[] = [];

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent();
  receiver = await startReceiver({ secret: SECRET, take: (event) => void events.push(event) });
  suite = await addSuite(service, 5);
  other = await addAgent(owner);
  await subscribe(owner, receiver.url, { event_types: ["regression.detected"] });
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

/** How the runs of a session ended: how many passed, failed, and did neither. */
interface Ended {
  passed: number;
  failed: number;
  /** Runs of which each may say nothing, with the columns that keep them from it. */
  silent?: Record<string, unknown>;
  /** Of the suite's tasks, by place; all of them unless given. */
  tasks?: number[];
  simulated?: boolean;
  /** False for a session of which a run is open. */
  finished?: boolean;
}

let minutes = 0;

/** Puts a session of an agent there that has ended so, a minute after the one put there before. */
async function addSession(agentId: string, ended: Ended): Promise<string> {
  minutes += 1;
  const { passed, failed, silent, tasks = [0, 1, 2, 3, 4], simulated = false, finished = true } = ended;
  const plan = tasks.map((task, position) => ({ task_id: suite.tasks[task], suite_version: 1, position }));
  const [session] = await service.sql<{ id: string }>(
    `insert into screening_sessions (agent_id, user_id, suite_id, trigger, task_plan, repeats, finished_at)
     values ($1, $2, $3, 'manual', $4, 1, case when $5 then timestamptz '2026-11-21' + $6 * interval '1 minute' end) returning id`,
    [agentId, owner.id, suite.id, JSON.stringify(plan), finished, minutes],
  );
  const id = session?.id ?? "";
  const put = async (count: number, columns: Record<string, unknown>) => {
    const row: Record<string, unknown> = {
      agent_id: agentId,
      task_id: suite.tasks[tasks[0] ?? 0],
      screening_session_id: id,
      trigger: "manual",
      scope: "personal",
      status: "completed",
      simulated,
      ...columns,
    };
    const names = Object.keys(row);
    await service.sql(
      `insert into runs (${names.join(", ")}) select ${names.map((_name, index) => `$${index + 1}`).join(", ")}
       from generate_series(1, ${count})`,
      Object.values(row),
    );
  };
  await put(passed, { passed: true });
  await put(failed, { passed: false });
  if (silent !== undefined) await put(50, silent);
  return id;
}

/** Has sessions compared with those before, as their ends do, and waits for what is told. */
async function compare(...sessions: string[]): Promise<void> {
  await service.sql(
    `insert into outbox (consumer, id, body, due_at)
     select 'regression', id, jsonb_build_object('screening_session_id', id), now() from unnest($1::uuid[]) as id`,
    [sessions],
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

const GOOD: Ended = { passed: 20, failed: 0 };
const BAD: Ended = { passed: 10, failed: 10 };
const OUR_FAULT = { status: "failed", passed: false, failure_code: "service_error" };

describe("an agent that got worse between two sessions over the same tasks", () => {
  it("is announced when the second has ended, with both rates and how likely that is by chance", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const batch = async () => {
      const body = { agent_id: agent, suite_id: suite.id, repeats: 2 };
      const answer = await owner.call("POST", "/api/v1/runs/batch", body);
      await service.settled();
      return String(answer.body[0].screening_session_id);
    };
    const baseline = await batch();
    let calls = 0;
    // Six of ten answers are wrong.
    endpoint.answer = (request) => {
      calls += 1;
      return calls > 4 ? json(200, { output: "41" }) : answersRightly(request);
    };
    const session = await batch();
    const [{ finished_at: at } = { finished_at: null }] = await service.sql<{ finished_at: Date | null }>(
      "select finished_at from screening_sessions where id = $1",
      [session],
    );
    expect(events).toEqual([
      {
        id: session,
        type: "regression.detected",
        created_at: at?.toISOString(),
        data: {
          agent_id: agent,
          screening_session_id: session,
          baseline_session_id: baseline,
          suite_id: suite.id,
          previous_pass_rate: 1,
          pass_rate: 0.4,
          p_value: regression({ passed: 10, total: 10 }, { passed: 4, total: 10 }).p_value,
        },
      },
    ]);
    await compare(session, session.replace(/.{4}$/, "0000"));
    expect(events).toHaveLength(1);
  });

  // The last session is compared; the number is the one that it is announced to be worse than.
  it.each<[string, Ended[], number | null]>([
    ["against the last one", [GOOD, BAD], 0],
    ["against the last one, not an older one", [GOOD, BAD, BAD], null],
    ["against the last one over the same tasks in any order", [{ ...GOOD, tasks: [4, 3, 2, 1, 0] }, { ...BAD }], 0],
    ["past one over some of the tasks", [GOOD, { ...BAD, tasks: [0, 1] }, BAD], 0],
    ["past one over more tasks", [{ ...GOOD, tasks: [0, 1] }, BAD, { ...BAD, tasks: [1, 0] }], 0],
    ["past one that has not ended", [GOOD, { ...BAD, finished: false }, BAD], 0],
    ["past one that was cancelled", [GOOD, { passed: 0, failed: 0, silent: { status: "cancelled" } }, BAD], 0],
    ["past one of which some runs were cancelled", [GOOD, { ...BAD, silent: { status: "cancelled" } }, BAD], 0],
    ["past one that failed by our fault", [GOOD, { passed: 0, failed: 0, silent: OUR_FAULT }, BAD], 0],
    ["past a simulated one", [GOOD, { ...BAD, simulated: true }, BAD], 0],
    [
      "of other numbers of repeats",
      [
        { passed: 5, failed: 0 },
        { passed: 30, failed: 70 },
      ],
      0,
    ],
    ["by runs that we failed alone", [GOOD, { ...GOOD, silent: OUR_FAULT }], null],
    ["by runs that were cancelled alone", [GOOD, { ...GOOD, silent: { status: "cancelled" } }], null],
    ["by what was not cancelled of a session", [GOOD, { ...BAD, silent: { status: "cancelled" } }], null],
    ["where the runs that we failed hide it", [{ ...GOOD, silent: OUR_FAULT }, BAD], 0],
    ["in simulated runs alone", [GOOD, { ...BAD, simulated: true }], null],
    ["with no session before", [BAD], null],
    [
      "over other tasks",
      [
        { ...GOOD, tasks: [0, 1, 2] },
        { ...BAD, tasks: [2, 3, 4] },
      ],
      null,
    ],
    ["by what may be chance", [GOOD, { passed: 18, failed: 2 }], null],
    [
      "by less than ten points",
      [
        { passed: 1000, failed: 0 },
        { passed: 901, failed: 99 },
      ],
      null,
    ],
    [
      "by ten points and no chance",
      [
        { passed: 1000, failed: 0 },
        { passed: 900, failed: 100 },
      ],
      0,
    ],
    ["not at all: it got better", [BAD, GOOD], null],
  ])("%s", async (_what, history, worseThan) => {
    const agent = await addAgent(owner);
    const sessions: string[] = [];
    for (const ended of history) {
      await addSession(other, GOOD);
      sessions.push(await addSession(agent, ended));
    }
    const last = sessions.at(-1) ?? "";
    // One that ends later is no matter, nor are another agent's.
    await addSession(agent, GOOD);
    await compare(last);
    expect(events.map(({ data }) => [data["screening_session_id"], data["baseline_session_id"]])).toEqual(
      worseThan === null ? [] : [[last, sessions[worseThan]]],
    );
  });
});
