import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context } from "../../../shared/platform/context.ts";
import type { Sleep } from "../../../shared/results/follow.ts";
import { followSession } from "../../../shared/results/follow-session.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf, eventsOf, sessionOf, type Told } from "./run-events-support.ts";
import { addAgent, addSuite, quietQueueClient, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let agent: string;
let suite: TestSuite;
let ctx: Context;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  agent = await addAgent(owner);
  suite = await addSuite(service, 3);
  ctx = contextOf(service, () => new Date());
  quietQueueClient();
  // No consumer runs: the tests move the runs by hand.
  service.faults.set({ service: "qstash", mode: "hang" });
});

afterAll(() => service.stop());

describe("the events of a screening session", () => {
  interface Batch {
    session: string;
    runs: string[];
  }

  async function newBatch(): Promise<Batch> {
    const { body } = await owner.call("POST", "/api/v1/runs/batch", {
      agent_id: agent,
      task_ids: suite.tasks,
      repeats: 2,
    });
    return { session: body[0].screening_session_id, runs: body.map(({ id }: { id: string }) => id) };
  }

  const STATES = ["queued", "running", "completed", "failed", "cancelled"];
  const moves = fc.array(
    fc.record({
      run: fc.nat(5),
      to: fc.integer({ min: 1, max: 4 }),
      // What the reader still gets of the next look: everything, or so many events before its connection drops.
      gets: fc.option(fc.nat(4), { freq: 2 }),
      // A clock that runs behind: what ends later may bear an earlier time.
      behind_ms: fc.nat(5000),
    }),
    { maxLength: 12 },
  );

  const move = ({ runs }: Batch, { run, to, behind_ms }: { run: number; to: number; behind_ms: number }) =>
    service.sql(
      `update runs set status = $2::text, passed = case when $2 = 'completed' then true end,
         started_at = coalesce(started_at, now() - $3 * interval '1 ms'),
         finalized_at = case when $2 <> 'running' then now() - $3 * interval '1 ms' end
       where id = $1 and (status = 'queued' or status = 'running' and $2 <> 'running')`,
      [runs[run], STATES[to], behind_ms],
    );

  it("lose nothing and repeat only what was on its way, wherever the connection drops", async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (script) => {
        const batch = await newBatch();
        const known = new Map<string, string>();
        let id = "";
        let repeated = 0;
        let lost = 0;
        let last: Told | undefined;
        /** Reads one look after `id` as far as the connection holds. */
        const read = async (gets: number | null) => {
          const stop: Sleep = () => Promise.reject(new Error("one look is enough"));
          const stream = await followSession(ctx, { kind: "anonymous" }, batch.session, id, stop);
          if (stream === "seen") return;
          const pieces = stream(new AbortController().signal);
          const { value } = await pieces.next();
          await pieces.return(undefined);
          const told = eventsOf(String(value));
          const got = gets === null ? told : told.slice(0, gets);
          lost += got.length < told.length ? got.filter(({ event }) => event === "run").length : 0;
          for (const { id: at, event, data } of got) {
            id = at ?? id;
            if (event === "run" && known.get(data.id) === data.status) repeated += 1;
            if (event === "run") known.set(data.id, data.status);
            last = { id: at, event, data };
          }
        };
        for (const step of [
          ...script,
          ...[0, 1, 2, 3, 4, 5].map((run) => ({ run, to: 2, behind_ms: 0, gets: null })),
        ]) {
          await move(batch, step);
          await read(step.gets);
        }
        await read(null);
        const { body } = await anonymous.call("GET", `/api/v1/screening-sessions/${batch.session}`);
        const states = await service.sql<{ id: string; status: string }>(
          "select id, status from runs where id = any($1)",
          [batch.runs],
        );
        expect(Object.fromEntries(known)).toEqual(Object.fromEntries(states.map((run) => [run.id, run.status])));
        const { task_plan: _plan, run_ids: _ids, ...progress } = body;
        expect(last).toEqual({ id, event: "session", data: progress });
        expect(["completed", "cancelled"]).toContain(body.status);
        expect(repeated).toBeLessThanOrEqual(lost);
        expect(await followSession(ctx, { kind: "anonymous" }, batch.session, id)).toBe("seen");
      }),
      { numRuns: 8 },
    );
  });

  it("come over the wire with the read's own shapes, and 204 after the last one", async () => {
    const batch = await newBatch();
    for (const run of [0, 1, 2, 3, 4, 5]) await move(batch, { run, to: run % 2 === 0 ? 2 : 3, behind_ms: 0 });
    const path = `/api/v1/screening-sessions/${batch.session}/events`;
    service.counters.reset();
    const told = eventsOf((await owner.call("GET", path)).text);
    expect(service.counters.snapshot().db.requests).toBe(1);
    const runs = await Promise.all(
      batch.runs.map(async (run) => (await owner.call("GET", `/api/v1/runs/${run}`)).body),
    );
    expect(told.slice(0, -1)).toEqual(runs.map((data) => ({ id: null, event: "run", data })));
    expect(told.at(-1)).toMatchObject({
      id: "cfcfcf",
      event: "session",
      data: { counts: { completed: 3, failed: 3 } },
    });
    const again = await owner.call("GET", path, undefined, { "last-event-id": "cfcfcf" });
    expect([again.status, again.text]).toEqual([204, ""]);
  });

  it("come look by look where the runs are more than one answer holds, the session's last", async () => {
    const { session } = await newBatch();
    // The longest that an agent may report as its error, in characters that JSON escapes.
    await service.sql(
      `insert into runs (id, agent_id, task_id, user_id, status, trigger, scope, domain, screening_session_id, position,
         repeat_index, repeat_total, failure_code, failure_detail, created_at, started_at, finalized_at, canary)
       select uuidv7(), r.agent_id, r.task_id, r.user_id, 'failed', r.trigger, r.scope, r.domain, $1, n + 10, 1, 1,
         'agent_reported_failure', repeat(chr(1), 2000), now(), now(), now(), false
       from (select * from runs where screening_session_id = $1 limit 1) r, generate_series(1, 994) n`,
      [session],
    );
    await service.sql(
      "update runs set status = 'failed', finalized_at = now(), canary = false where screening_session_id = $1",
      [session],
    );
    let at = Date.now();
    const clocked = contextOf(service, () => new Date(at));
    const sleep: Sleep = async (ms) => void (at += ms);
    const stream = await followSession(clocked, sessionOf(owner), session, "", sleep);
    if (stream === null || stream === "seen") throw new Error("there is no stream");
    let text = "";
    for await (const piece of stream(new AbortController().signal)) text += piece;
    const told = eventsOf(text);
    const runs = told.filter(({ event }) => event === "run").map(({ data }) => data.id);
    expect([runs.length, new Set(runs).size]).toEqual([1000, 1000]);
    expect(told.filter(({ event }) => event === "session").map(({ data }) => data.counts.failed)).toEqual([1000]);
    expect(told.at(-1)).toMatchObject({ event: "session", id: "f".repeat(1000) });
    // Whoever lost the connection on the way goes on behind what was told.
    const cut = told.find(({ id }) => id !== null);
    expect(cut?.id).toMatch(/^f+q+$/);
    expect(told.findIndex(({ id }) => id !== null)).toBe((cut?.id?.indexOf("q") ?? 0) - 1);
  });
});
