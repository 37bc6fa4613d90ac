import { readAccount } from "../../shared/identity/account.ts";
import { caller } from "../stack/client.ts";
import { createCounters } from "../stack/counters.ts";
import { createFaults } from "../stack/faults.ts";
import { startRedisFront } from "../stack/redis/front.ts";
import { type Bench, contextBeside, EMPTIED, publisherBeside } from "./beside.ts";
import { RESERVATION, statementOf } from "./database.ts";
import { exportOfAMillion } from "./export.ts";
import { type ByKey, growthOfOwnAgents, growthOfReads, LARGE, type Reader } from "./growth.ts";
import { logFigures } from "./log.ts";
import { type Add, ratio } from "./measure.ts";
import { mintingFigures } from "./minting.ts";
import { spansRatio } from "./otlp.ts";
import { nightlyFigures } from "./nightly.ts";
import { peerFigures } from "./peers.ts";
import { heapFigure, residentFigures } from "./resident.ts";
import { screeningFigures } from "./screening.ts";
import { startFigures } from "./start.ts";
import { crowded, throughput } from "./throughput.ts";
import { fanOutRatio } from "./webhooks.ts";

/** Measures one subject and adds its figures; needs nothing of the other parts, and leaves the account and its agent. */
export type Part = (bench: Bench, add: Add) => Promise<void>;

/** All parts, in the order in which they are measured: what fills the database comes last. */
export const PARTS: Readonly<Record<string, Part>> = {
  start: async ({ entry }, add) => (await startFigures(entry)).forEach(add),
  minting: async (_bench, add) => (await mintingFigures()).forEach(add),

  // Before all that hello world is not asked for, whose process the Worker's is compared with.
  async cached({ stack, baseline, inspector }, add) {
    const load = (connections: number, inARow: number) =>
      throughput(`${stack.url}/api/v1/leaderboard`, `${baseline.url}/hello`, { connections, inARow });
    for (const [inARow, budget] of [
      [200, 0.85],
      [10, 0.75],
      [1, 0.65],
    ] as const) {
      const { rate } = await load(16, inARow);
      const requests = `${inARow} request${inARow === 1 ? "" : "s"}`;
      add({
        name: `cached public read, ${requests} of an address / hello world`,
        ...rate,
        unit: "×",
        kind: "least",
        budget,
      });
    }
    const callers = { connections: 256, inARow: 200 };
    const crowd = await crowded(`${stack.url}/api/v1/leaderboard`, `${baseline.url}/hello`, callers);
    const pace = "256 connections at a quarter of what hello world carries";
    add({
      name: `p99 of cached public reads, ${pace}`,
      ...crowd.later,
      unit: "ms",
      kind: "most",
      budget: 5,
      against: "hello world's at this pace, subtracted",
    });
    add({
      name: `p99 of hello world, ${pace}`,
      ...crowd.noise,
      unit: "ms",
      kind: "most",
      budget: 5,
      against: "its own half a second before, subtracted: the noise",
    });
    add({
      name: "connections lost at 256, full load",
      ...crowd.lost,
      unit: "requests",
      kind: "most",
      budget: 0,
      against: "hello world's, subtracted",
    });
    (await residentFigures(inspector)).forEach(add);
  },

  async read({ owner, bare, stack, account }, add) {
    const { text, params } = await statementOf(await contextBeside(stack), (ctx) => readAccount(ctx, account.id));
    const read = () => owner("GET", "/api/v1/auth/me");
    const same = () => bare(text, params);
    const times = await ratio(1000, read, same, { warmUp: 200 });
    add({ name: "authenticated read / same SQL, same driver", ...times, unit: "×", kind: "most", budget: 1.15 });
  },

  async batch({ owner, bare, withoutQueue, agent, tasks: task_ids }, add) {
    const batch = () => owner("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids, repeats: 10 });
    const raw = () => bare(RESERVATION, [agent, task_ids, 10]);
    await withoutQueue(async () => {
      add({
        name: `batch of ${task_ids.length} × 10 / raw statement`,
        ...(await ratio(12, batch, raw)),
        unit: "×",
        kind: "most",
        budget: 1.3,
      });
    });
  },

  async otlp({ owner, baseline, withoutQueue, pool }, add) {
    // An agent of its own: one that may send telemetry has its runs wait for it.
    const traced = await owner("POST", "/api/v1/agents", { name: "Traced", endpoint: "http://127.0.0.1:9/run" });
    const receiver = await owner("POST", `/api/v1/agents/${traced.body.id}/otlp-token`);
    await withoutQueue(async () => {
      const spans = await spansRatio({ agent: traced.body.id, ...receiver.body }, baseline, pool);
      add({ name: "OTLP, 10,000 spans / parse + raw insert", ...spans, unit: "×", kind: "most", budget: 1.3 });
    });
    await pool.query("truncate spans");
  },

  async webhooks({ owner, stack, pool, agent }, add) {
    const ctx = await publisherBeside(stack);
    const told = await fanOutRatio({ owner, console: stack.console, pool, ctx }, agent);
    add({ name: "500 webhook deliveries / bare loop of fetch", ...told.time, unit: "×", kind: "most", budget: 2.5 });
    add({
      name: "database requests a webhook delivery",
      ...told.requests,
      unit: "requests",
      kind: "most",
      budget: 0.2,
    });
  },

  async screenings(bench, add) {
    (await screeningFigures(bench)).forEach(add);
    await bench.pool.query(EMPTIED);
  },

  async "sign-in"({ register, stack }, add) {
    // Five failures lock an account: eleven accounts bear 43 tries. Far apart ratios would tell who has an account.
    for (let n = 0; n < 11; n += 1) await register(`known${n}@example.test`);
    let attempts = 0;
    const signIn = async (email: string) => {
      attempts += 1;
      const address = { "cf-connecting-ip": `10.2.${(attempts >> 8) & 255}.${attempts & 255}` };
      const body = { email, password: "not the password" };
      const { status } = await caller(stack, address).call("POST", "/api/v1/auth/login", body);
      if (status !== 401) throw new Error(`a wrong password was answered with ${status}`);
    };
    const known = (n: number) => signIn(`known${n % 11}@example.test`);
    const sameTime = await ratio(40, known, (n) => signIn(`unknown${n}@example.test`));
    const { min, max } = sameTime.spread;
    const otherwise = { value: 1 / sameTime.value, spread: { min: 1 / max, max: 1 / min } };
    add({ name: "sign-in: wrong password / unknown email", ...sameTime, unit: "×", kind: "most", budget: 1.15 });
    add({ name: "sign-in: unknown email / wrong password", ...otherwise, unit: "×", kind: "most", budget: 1.15 });
  },

  async heap({ inspector }, add) {
    add(await heapFigure(inspector));
  },

  async export(bench, add) {
    const { pace, growth } = await exportOfAMillion(bench, bench.account, bench.agent);
    add({
      name: "rows of an export of 1,000,000 runs, a second",
      ...pace,
      unit: "rows/s",
      kind: "least",
      budget: 50_000,
    });
    add({
      name: "memory grown by an export of 1,000,000 runs",
      value: growth,
      unit: "KB",
      kind: "most",
      budget: 10 * 1024,
    });
  },

  async growth(bench, add) {
    const { stack, owner, register, pool, account } = bench;
    const { user: other } = await register("other@example.test");
    const accounts = { owner: account.id, other: other.id };
    const read = await readerOf(bench);
    const filled = await growthOfReads(pool, accounts, read, bareRead(bench), add);
    const byKey = () => owner("GET", `/api/v1/agents/${filled.agent}`);
    let page = 1;
    const board = () => owner("GET", `/api/v1/leaderboard?page=${(page += 1)}`);
    add({
      name: "board page of 1,000,000 / primary-key read",
      ...(await ratio(100, board, byKey)),
      unit: "×",
      kind: "most",
      budget: 3,
    });
    const lastPage = () => owner("GET", `/api/v1/leaderboard?page=${LARGE / 20}`);
    add({
      name: "last board page of 1,000,000 / primary-key read",
      ...(await ratio(100, lastPage, byKey)),
      unit: "×",
      kind: "most",
      budget: 3,
    });
    const { rows: some } = await pool.query<{ id: string }>(
      "select agent_id as id from board_entries where domain = 'all' and period = 'all' order by composite_score limit 100 offset $1",
      [LARGE / 2],
    );
    const ranked = (n: number) => owner("GET", `/api/v1/agents/${some[n % some.length]?.id}`);
    add({
      name: "rank and rank range among 1,000,000 / primary-key read",
      ...(await ratio(100, ranked, byKey)),
      unit: "×",
      kind: "most",
      budget: 3,
    });
    const redis = await startRedisFront({ faults: createFaults(), counters: createCounters() });
    try {
      const { url, token } = redis;
      const ctx = await contextBeside(stack, { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token });
      (await nightlyFigures(ctx, pool)).forEach(add);
      (await logFigures({ ctx, pool, console: stack.console, byKey })).forEach(add);
    } finally {
      await redis.close();
    }
    // Last: what it leaves behind, new statistics of a million runs among it, would tell on the night's figures.
    await growthOfOwnAgents(pool, filled, read, bareRead(bench), add);
  },
};

/** Parts that are measured only where they are named, since they install what they compare with. */
export const NAMED: Readonly<Record<string, Part>> = {
  async peers(bench, add) {
    (await peerFigures(bench)).forEach(add);
    await bench.pool.query(EMPTIED);
  },
};

/** The parts of these names, in the order in which they are measured; without names those that need nothing more. */
export function partsOf(names: readonly string[]): [name: string, part: Part][] {
  if (names.length === 0) return Object.entries(PARTS);
  return Object.entries({ ...PARTS, ...NAMED }).filter(([name]) => names.includes(name));
}

/** Makes the reads of a world, each as whoever may. */
async function readerOf({ owner, anybody, register, callerOf, pool }: Bench): Promise<Reader> {
  const email = "admin@example.test";
  const { access_token: token } = await register(email);
  await pool.query("update users set email_verified = true where email = $1", [email]);
  const callers = { owner, anybody, admin: callerOf(token) };
  return ({ by, path, body }) => callers[by](body === undefined ? "GET" : "POST", path, body);
}

/** Reads an agent by its key as barely as can be. */
function bareRead({ bare }: Bench): ByKey {
  return (agent) => bare("select to_jsonb(a) as result from agents a where id = $1", [agent]);
}
