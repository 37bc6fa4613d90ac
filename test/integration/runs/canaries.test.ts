import { DAILY } from "../../../functions/scheduled.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KEPT_PREFIX } from "../../../shared/db/kept.ts";
import { OPEN_SESSIONS } from "../../bench/sessions.ts";
import { json } from "../../stack/http.ts";
import { newVisitor } from "../../stack/visitor.ts";
import { Minting, type Run, shape } from "./canary-support.ts";
import { honest, told } from "./minted-support.ts";
import { addAgent, addSuite, range, startAgent, used } from "./support.ts";

/** What the call of a session's end alone has: what was carried out before may still be at work. */
const TELLING = `${KEPT_PREFIX}settle_`;
/** An address of its own, whose requests of a minute are its own. */
const ELSEWHERE = { "cf-connecting-ip": "10.7.0.1" };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let minting: Minting;

beforeAll(async () => {
  minting = await Minting.start();
});

beforeEach(() => {
  minting.at(0);
  minting.agent.seen.length = 0;
});

afterAll(() => minting.stop());

const taken = () => used(minting.service, "user", minting.owner.id);
const ids = (runs: readonly Run[]) => runs.map(({ id }) => id);

describe("one run in ten of a session", () => {
  it("is asked its task's sample, at places that follow from the epoch's secret; afterwards it says so and counts for nothing", async () => {
    const agentId = await minting.addLive();
    const [before, logged] = [await taken(), await minting.entries()];
    const runs = await minting.reserve(agentId, 5);
    await minting.released();
    const { canaries, others } = await minting.parted(runs);
    expect(canaries).toHaveLength(2);
    expect(ids(runs).filter((id) => minting.wasSample(id))).toEqual(ids(canaries));
    const ended = await minting.readAll(runs);
    expect(ids(ended.filter(({ canary }) => canary === true))).toEqual(ids(canaries));
    expect(ids(ended.filter(({ canary }) => canary === false))).toEqual(ids(others));
    expect(ids(ended.filter(({ evidence_signed }) => !evidence_signed))).toEqual(ids(canaries));
    expect(await minting.session(runs)).toMatchObject({
      status: "completed",
      canaries: { runs: 2, passed: 2 },
      counts: { completed: 20, passed: 20 },
    });
    expect((await taken()) - before).toBe(18);
    expect((await minting.entries()) - logged).toBe(18);
    const stats = await minting.read(`/api/v1/agents/${agentId}/stats`);
    expect(stats).toMatchObject({ total_runs: 18, successful_runs: 18 });
    const { items } = await minting.read("/api/v1/leaderboard?page_size=100", minting.anonymous);
    expect(items.find((row: { agent_id: string }) => row.agent_id === agentId)).toMatchObject({ runs: 18, tasks: 4 });
    for (const [run, status, instance, fact] of [
      [canaries[0], 404, null, "evidence_signed not_applicable"],
      [others[0], 200, { world: null }, "evidence_signed succeeded"],
    ] as const) {
      const path = `/api/v1/runs/${run?.id}`;
      expect((await minting.anonymous.call("GET", `${path}/evidence`)).status).toBe(status);
      expect((await minting.owner.call("GET", `${path}/output`)).body).toMatchObject({ instance });
      expect((await minting.facts(run?.id ?? "")).at(-1)).toBe(fact);
    }
  });

  it("is told of on the page of the screening once that is over, and marked among what did not pass", async () => {
    minting.agent.answer = () => json(200, { output: "wrong" });
    const runs = await minting.reserve(await minting.addLive(), 5);
    const page = async () =>
      (await newVisitor(minting.service).open(`/sessions/${runs[0]?.screening_session_id}`)).html;
    expect(await page()).not.toContain("canar");
    await minting.released().finally(() => (minting.agent.answer = honest));
    const html = await page();
    expect(html).toContain("2 of the runs were canaries, asked what is published as a sample; 0 of them passed.");
    expect(html.match(/<span class="tag">canary<\/span>/g)).toHaveLength(2);
  });

  it("can't be told from the others on the wire: same headers, same members of the same kinds", async () => {
    const runs = await minting.reserve(await minting.addLive(), 5);
    await minting.released();
    const { canaries, others } = await minting.parted(runs);
    for (const canary of canaries) {
      const twin = others.find(({ task_id }) => task_id === canary.task_id);
      const [one, other] = [minting.asked(canary.id), minting.asked(twin?.id ?? "")];
      const form = ({ headers, body }: typeof one) => {
        const { input, ...task } = body.task;
        // What an input holds is the story's own: tables of one line or of three.
        return {
          order: [Object.keys(headers), Object.keys(body), Object.keys(body.task)],
          kinds: { ...(shape({ ...body, task }) as object), input: typeof input },
        };
      };
      expect(form(one)).toEqual(form(other));
    }
  });

  it("is drawn from the epoch in which the session was created, whenever the run is taken up", async () => {
    const runs = await minting.reserve(await minting.addLive(), 5);
    minting.at(2 * MINUTE);
    await minting.released();
    const { canaries } = await minting.parted(runs);
    expect(ids((await minting.readAll(runs)).filter(({ canary }) => canary))).toEqual(ids(canaries));
    const epochs = await minting.service.sql("select distinct epoch from runs where id = any($1)", [ids(runs)]);
    expect(epochs).toEqual([{ epoch: "2026-11-23" }]);
  });

  it("is never asked while the log has no timely commitment to the epoch of its session: that ends as our fault", async () => {
    const runs = await minting.reserve(await minting.addLive(), 2, { task_ids: minting.tasks.slice(0, 1) });
    minting.at(2 * MINUTE);
    const timely = (is: boolean) =>
      minting.service.sql("update epochs set is_timely = $1 where name = '2026-11-22'", [is]);
    await timely(false);
    const before = await taken();
    await minting.released();
    for (const _attempt of range(6)) {
      await minting.service.sql(
        "update runs set lease_expires_at = now() - interval '1 second' where status = 'running'",
      );
      await minting.service.app.scheduled("* * * * *");
      await minting.service.settled();
    }
    await timely(true);
    expect(minting.agent.seen).toEqual([]);
    expect(await minting.readAll(runs)).toMatchObject(
      range(2).map(() => ({ failure_code: "service_error", canary: false })),
    );
    expect(await minting.session(runs)).toMatchObject({ status: "completed", canaries: { runs: 0 } });
    expect(before - (await taken())).toBe(2);
  });

  it.each<[string, number, object, () => Promise<string>]>([
    ["one repeat", 1, {}, () => minting.addLive()],
    ["private runs", 5, { private: true }, () => minting.addLive()],
    ["simulated runs", 5, {}, () => addAgent(minting.owner)],
  ])("is no canary where the session has %s", async (_what, repeats, fields, add) => {
    const before = await taken();
    const runs = await minting.reserve(await add(), repeats, fields);
    expect(new Set(runs.map(({ canary }) => canary))).toEqual(new Set([false]));
    await minting.released();
    expect(minting.agent.seen.some(({ body }) => minting.wasSample(told(body).run_id))).toBe(false);
    expect(await minting.session(runs)).toMatchObject({ status: "completed", canaries: { runs: 0, passed: 0 } });
    expect((await taken()) - before).toBe(runs.length);
  });

  it("is a canary only of a task that is minted: one with a fixed text counts at once", async () => {
    const { tasks: fixed } = await addSuite(minting.service, 1);
    const task_ids = [minting.tasks[0], ...fixed];
    const runs = await minting.reserve(await minting.addLive(), 10, { task_ids });
    const [minted, others] = [runs.slice(0, 10), runs.slice(10)];
    expect(minted.map(({ canary }) => canary)).toEqual(range(10).map(() => null));
    expect(others.map(({ canary }) => canary)).toEqual(range(10).map(() => false));
    await minting.carryOut(others);
    const signed = (await minting.readAll(others)).map(({ evidence_signed }) => evidence_signed);
    expect(signed).toEqual(range(10).map(() => true));
    await minting.released();
    expect(await minting.session(runs)).toMatchObject({ canaries: { runs: 1 } });
  });
});

describe("what a session's end tells", () => {
  it.each([{}, { private: true }])(
    "is told of one that is cancelled before any of its runs began, %j",
    async (fields) => {
      const agentId = await minting.addLive();
      const receiver = await startAgent(() => ({ status: 200 }));
      const subscription = { url: receiver.url, event_types: ["session.completed"] };
      const { body: webhook } = await minting.owner.call("POST", "/api/v1/webhooks", subscription, ELSEWHERE);
      const [first] = await minting.reserve(agentId, 3, fields);
      const path = `/api/v1/screening-sessions/${first?.screening_session_id}/cancel`;
      expect((await minting.owner.call("POST", path)).status).toBe(200);
      await minting.released();
      await minting.service.settled();
      expect(receiver.seen).toHaveLength(1);
      await minting.owner.call("DELETE", `/api/v1/webhooks/${webhook.id}`);
      await receiver.stop();
    },
  );

  /** What there is of a session once it is settled, however that came about. */
  async function expectSettled(runs: readonly Run[], before: number): Promise<void> {
    const { canaries } = await minting.parted(runs);
    expect(ids((await minting.readAll(runs)).filter(({ canary }) => canary))).toEqual(ids(canaries));
    expect((await taken()) - before).toBe(runs.length - canaries.length);
    expect(await minting.service.sql("select from held_results")).toEqual([]);
    const facts = await minting.facts(canaries[0]?.id ?? "");
    expect(facts.filter((fact) => fact.startsWith("evidence_signed"))).toHaveLength(1);
  }

  it("is what a measured screening ends with, not the end of its last run", async () => {
    const runs = await minting.reserve(await minting.addLive(), 5);
    const open = () => minting.service.sql(OPEN_SESSIONS, [[runs[0]?.screening_session_id]]);
    await minting.carryOut(runs);
    expect((await minting.session(runs)).status).toBe("running");
    expect(await open()).toHaveLength(1);
    await minting.released();
    expect((await minting.session(runs)).status).toBe("completed");
    expect(await open()).toEqual([]);
  });

  it("comes once where runs end at the same time, every message comes twice, and it is told ten times at once", async () => {
    const before = await taken();
    const sessions = await Promise.all(range(3).map(async () => minting.reserve(await minting.addLive(), 5)));
    minting.service.broker.setChaos({ duplicate: true, shuffle: true });
    await minting.released();
    minting.service.broker.setChaos({ duplicate: false, shuffle: false });
    const again = await Promise.all(range(10).flatMap(() => sessions.map((runs) => minting.settle(runs))));
    expect(new Set(again)).toEqual(new Set([200]));
    expect((await taken()) - before).toBe(54);
    for (const runs of sessions) await expectSettled(runs, (await taken()) - 18);
  });

  it.each(["down", "lost", "truncated"] as const)(
    "is not half told where the database is %s in the middle, and comes with the next message",
    async (mode) => {
      const before = await taken();
      const runs = await minting.reserve(await minting.addLive(), 5);
      await minting.carryOut(runs);
      expect(await minting.session(runs)).toMatchObject({ status: "running", canaries: null });
      minting.service.faults.set({ service: "db", mode, count: 1, body: TELLING });
      expect(await minting.settle(runs)).toBe(507);
      await minting.released();
      await expectSettled(runs, before);
    },
  );

  it("comes with the work of the day where its message was lost for good", async () => {
    const before = await taken();
    const runs = await minting.reserve(await minting.addLive(), 5);
    await minting.carryOut(runs);
    await minting.service.sql("delete from outbox where consumer = 'settle'");
    minting.service.faults.set({ service: "qstash", mode: "none" });
    // By the work's own hour the owner's credential has ended.
    minting.at(4 * HOUR);
    await minting.service.app.scheduled(DAILY);
    await minting.service.settled();
    minting.at(0);
    await expectSettled(runs, before);
  });

  it("comes with the last run's cancellation; a canary does not count either where all else of its task is cancelled", async () => {
    const agentId = await minting.addLive();
    const before = await taken();
    const runs = await minting.reserve(agentId, 5);
    const { canaries } = await minting.parted(runs);
    await minting.carryOut(canaries);
    expect((await minting.readAll(canaries)).map(({ canary }) => canary)).toEqual([null, null]);
    const others = runs.filter(({ id }) => !ids(canaries).includes(id));
    const cancelled = await Promise.all(
      others.map(({ id }) => minting.owner.call("POST", `/api/v1/runs/${id}/cancel`, undefined, ELSEWHERE)),
    );
    expect(new Set(cancelled.map(({ status, body }) => `${status} ${body.canary}`))).toEqual(new Set(["200 false"]));
    await minting.released();
    expect(await minting.session(runs)).toMatchObject({ status: "completed", canaries: { runs: 2, passed: 2 } });
    expect(await taken()).toBe(before);
    const { items } = await minting.read("/api/v1/leaderboard?page_size=100", minting.anonymous);
    expect(items.some((row: { agent_id: string }) => row.agent_id === agentId)).toBe(false);
    expect(await minting.read(`/api/v1/agents/${agentId}`)).toMatchObject({ verified_state: "unverified" });
  });
});
