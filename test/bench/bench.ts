/** `npm run bench`: the budgets as ratios measured in one run, on the stack as `npm run dev` starts it. */
import { Pool } from "pg";
import { deploy } from "../e2e/deployed.ts";
import { caller } from "../stack/client.ts";
import { json, listen } from "../stack/http.ts";
import { WORKERS } from "../stack/limits.ts";
import { buildWorker } from "../stack/worker/worker.ts";
import { startBaseline } from "./baseline.ts";
import { ACCOUNT, RESERVATION } from "./database.ts";
import { contextBeside } from "./beside.ts";
import { exportOfAMillion } from "./export.ts";
import { forgeryTable } from "./forgery.ts";
import { freePort, liveHeap } from "./heap.ts";
import { growthOfReads, LARGE, type Reader } from "./growth.ts";
import { logFigures } from "./log.ts";
import { type Figure, type Measured, ratio, report } from "./measure.ts";
import { mintingFigures } from "./minting.ts";
import { spansRatio } from "./otlp.ts";
import { screeningFigures } from "./screening.ts";
import { startFigures } from "./start.ts";
import { throughput } from "./throughput.ts";
import { fanOutRatio } from "./webhooks.ts";

if (process.argv[2] === "forgery") process.exit((await forgeryTable()) ? 0 : 1);

/** Requests that the owner sends from one address. */
const IN_A_ROW = 50;

const figures: Figure[] = [];
const addFigure = (figure: Figure): void => {
  figures.push(figure);
  console.error(`measured: ${figure.name}`);
};
const add = (
  name: string,
  value: number | Measured,
  unit: Figure["unit"],
  kind: Figure["kind"],
  budget: number,
): void => addFigure({ name, ...(typeof value === "number" ? { value } : value), unit, kind, budget });

figures.push(...(await startFigures(await buildWorker())));
console.error("measured: the start");
for (const figure of await mintingFigures()) addFigure(figure);

const inspector = await freePort();
process.env["INSPECTOR_PORT"] = String(inspector);
// The stack has a process of its own, and so has each Worker: nothing that is measured shares a thread with this one.
const stack = await deploy();
const pool = new Pool({ connectionString: stack.databaseUrl, max: 2 });
const baseline = await startBaseline(stack.settings());
const agent = await listen(() => json(200, { output: "42" }));
try {
  const registered = await stack.call("POST", "/api/v1/auth/register", {
    email: "bench@example.test",
    password: "correct horse battery",
  });
  const { access_token: token, user } = registered.body;
  await pool.query("update users set plan = 'enterprise'");
  let requests = 0;
  const owner = (method: string, path: string, body?: unknown) => {
    requests += 1;
    // A caller moves on before it meets the limit of a minute.
    const address = `10.1.${Math.floor(requests / IN_A_ROW)}.1`;
    return caller(stack, { authorization: `Bearer ${token}`, "cf-connecting-ip": address }).call(method, path, body);
  };
  const bare = (text: string, params: unknown[]) => caller(baseline).call("POST", "/sql", { text, params });

  const read = () => owner("GET", "/api/v1/auth/me");
  add(
    "authenticated read / same SQL, same driver",
    await ratio(200, read, () => bare(ACCOUNT, [user.id])),
    "×",
    "most",
    1.15,
  );

  const created = await owner("POST", "/api/v1/agents", { name: "Bench", endpoint: `${agent.url}/run` });
  const { rows } = await pool.query<{ id: string }>("select id from tasks where not is_secret order by id limit 100");
  const task_ids = rows.map(({ id }) => id);
  // The queue hangs, so that the consumers' work does not blur what the reservation takes.
  await stack.console.call("POST", "/faults", { service: "qstash", mode: "hang" });
  const batch = () => owner("POST", "/api/v1/runs/batch", { agent_id: created.body.id, task_ids, repeats: 10 });
  const raw = () => bare(RESERVATION, [created.body.id, task_ids, 10]);
  add(`batch of ${task_ids.length} × 10 / raw statement`, await ratio(12, batch, raw), "×", "most", 1.3);
  await pool.query("truncate outbox, screening_sessions, runs cascade");

  // An agent of its own: one that may send telemetry has its runs wait for it.
  const traced = await owner("POST", "/api/v1/agents", { name: "Traced", endpoint: `${agent.url}/run` });
  const receiver = await owner("POST", `/api/v1/agents/${traced.body.id}/otlp-token`);
  const spans = await spansRatio({ agent: traced.body.id, ...receiver.body }, baseline, pool);
  add("OTLP, 10,000 spans / parse + raw insert", spans, "×", "most", 1.3);
  await pool.query("truncate spans, runs cascade");
  await stack.console.call("POST", "/faults", { service: "qstash", mode: "none" });

  const told = await fanOutRatio({ owner, console: stack.console, pool }, created.body.id);
  add("500 webhook deliveries / bare loop of fetch", told.time, "×", "most", 2.5);
  add("database requests a webhook delivery", told.requests, "requests", "most", 0.2);

  for (const figure of await screeningFigures({ owner, pool, tasks: task_ids })) addFigure(figure);
  await pool.query("truncate outbox, screening_sessions, runs cascade");

  let attempts = 0;
  const signIn = (email: string) => {
    attempts += 1;
    const address = { "cf-connecting-ip": `10.2.${(attempts >> 8) & 255}.${attempts & 255}` };
    return caller(stack, address).call("POST", "/api/v1/auth/login", { email, password: "not the password" });
  };
  // Five failures lock an account: eleven accounts bear 43 tries. Far apart ratios would tell who has an account.
  for (let n = 0; n < 11; n += 1) {
    const address = { "cf-connecting-ip": `10.3.0.${n}` };
    const account = { email: `known${n}@example.test`, password: "correct horse battery" };
    await caller(stack, address).call("POST", "/api/v1/auth/register", account);
  }
  const known = (n: number) => signIn(`known${n % 11}@example.test`);
  const sameTime = await ratio(40, known, (n) => signIn(`unknown${n}@example.test`));
  const { min, max } = sameTime.spread;
  const otherwise = { value: 1 / sameTime.value, spread: { min: 1 / max, max: 1 / min } };
  add("sign-in: wrong password / unknown email", sameTime, "×", "most", 1.15);
  add("sign-in: unknown email / wrong password", otherwise, "×", "most", 1.15);

  const cached = (connections: number, inARow: number) =>
    throughput(`${stack.url}/api/v1/leaderboard`, `${baseline.url}/hello`, { connections, inARow });
  const busy = await cached(16, 200);
  add("cached public read, 200 requests of an address / hello world", busy.rate, "×", "least", 0.85);
  add("cached public read, 10 requests of an address / hello world", (await cached(16, 10)).rate, "×", "least", 0.75);
  add("cached public read, 1 request of an address / hello world", (await cached(16, 1)).rate, "×", "least", 0.65);
  const crowd = await cached(256, 200);
  add("p99 of cached public reads at 256 connections / hello world", crowd.p99, "×", "most", 1);
  add("connections lost at 256, less those of hello world", crowd.lost, "requests", "most", 0);
  add("live heap of the Worker after this load", await liveHeap(inspector), "KB", "most", WORKERS.memoryMib * 1024);

  const growth = await exportOfAMillion(stack, pool, { id: user.id, token }, created.body.id);
  add("memory grown by an export of 1,000,000 runs", growth, "KB", "most", 10 * 1024);

  const other = await caller(stack, { "cf-connecting-ip": "10.5.0.1" }).call("POST", "/api/v1/auth/register", {
    email: "other@example.test",
    password: "correct horse battery",
  });
  const anybody = (path: string) => {
    requests += 1;
    const address = { "cf-connecting-ip": `10.6.${Math.floor(requests / IN_A_ROW)}.1` };
    return caller(stack, address).call("GET", path);
  };
  const reader: Reader = (by, path) => (by === "owner" ? owner("GET", path) : anybody(path));
  const filled = await growthOfReads(pool, { owner: user.id, other: other.body.user.id }, reader, add);
  let page = 1;
  const board = () => owner("GET", `/api/v1/leaderboard?page=${(page += 1)}`);
  const byKey = () => owner("GET", `/api/v1/agents/${filled.agent}`);
  add("board page of 1,000,000 / primary-key read", await ratio(100, board, byKey), "×", "most", 3);
  const lastPage = () => owner("GET", `/api/v1/leaderboard?page=${LARGE / 20}`);
  add("last board page of 1,000,000 / primary-key read", await ratio(100, lastPage, byKey), "×", "most", 3);
  const { rows: some } = await pool.query<{ id: string }>(
    "select agent_id as id from board_entries where domain = 'all' and period = 'all' order by composite_score limit 100 offset $1",
    [LARGE / 2],
  );
  const ranked = (n: number) => owner("GET", `/api/v1/agents/${some[n % some.length]?.id}`);
  add("rank and rank range among 1,000,000 / primary-key read", await ratio(100, ranked, byKey), "×", "most", 3);

  const ctx = await contextBeside(stack);
  for (const figure of await logFigures({ ctx, pool, console: stack.console, byKey })) addFigure(figure);
} finally {
  await agent.close();
  await baseline.stop();
  await pool.end();
  await stack.stop();
}

console.log("");
process.exitCode = report(figures) === 0 ? 0 : 1;
