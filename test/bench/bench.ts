/** `npm run bench`: the budgets as ratios measured in one run, on the stack as `npm run dev` starts it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { caller } from "../stack/client.ts";
import { startStack } from "../stack/stack.ts";
import { buildWorker } from "../stack/worker.ts";
import { boardOfAMillion, driver, screeningOverhead } from "./database.ts";
import { type Figure, ratio, report } from "./measure.ts";
import { throughputAgainstHello } from "./throughput.ts";

const dir = mkdtempSync(join(tmpdir(), "screening-bench-"));
const figures: Figure[] = [];
const add = (figure: Figure): void => {
  figures.push(figure);
  console.error(`measured: ${figure.name}`);
};

const bundle = await buildWorker();
add({
  name: "bundle, gzip",
  value: gzipSync(readFileSync(bundle)).length / 1024,
  unit: "KB",
  budget: 500,
  kind: "most",
});
const startup = `const t=performance.now();await import(${JSON.stringify(bundle)});console.log(performance.now()-t)`;
const starts = Array.from({ length: 5 }, () =>
  Number(execFileSync(process.execPath, ["--input-type=module", "-e", startup], { encoding: "utf8" })),
);
add({ name: "start of the bundle", value: Math.min(...starts), unit: "ms", budget: 50, kind: "most" });

const stack = await startStack({ port: 9797, dir });
try {
  const database = driver(stack);
  const registered = await caller(stack).call("POST", "/api/v1/auth/register", {
    email: "bench@example.test",
    password: "correct horse battery",
  });
  const token: string = registered.body.access_token;
  await database.pool.query("update users set plan = 'enterprise'");
  let address = 0;
  const as = () => {
    address += 1;
    return { authorization: `Bearer ${token}`, "cf-connecting-ip": `10.1.${(address >> 8) & 255}.${address & 255}` };
  };
  const owner = {
    get: (path: string) => fetch(stack.url + path, { headers: as() }).then((answer) => answer.text()),
    post: (path: string, body: unknown) =>
      fetch(stack.url + path, {
        method: "POST",
        headers: { ...as(), "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then((answer) => answer.text()),
  };

  const me = registered.body.user.id as string;
  add({
    name: "authenticated read / same SQL, same driver",
    value: await ratio(
      150,
      () => owner.get("/api/v1/auth/me"),
      () => database.account(me),
    ),
    unit: "×",
    budget: 1.15,
    kind: "most",
  });

  const agent = JSON.parse(await owner.post("/api/v1/agents", { name: "Bench" })) as { id: string };
  const tasks = (
    await database.pool.query<{ id: string }>("select id from tasks where not is_secret order by id limit 100")
  ).rows;
  const batch = { agent_id: agent.id, task_ids: tasks.map(({ id }) => id), repeats: 10 };
  // The queue hangs, so that the consumers' work does not blur what the reservation takes.
  const quiet = (mode: string) =>
    caller({ url: stack.consoleUrl }).call("POST", "/faults", { service: "qstash", mode });
  await quiet("hang");
  add({
    name: `batch of ${tasks.length} × 10 / raw statement`,
    value: await ratio(
      12,
      () => owner.post("/api/v1/runs/batch", batch),
      () => database.rawBatch(agent.id, batch.task_ids, 10),
    ),
    unit: "×",
    budget: 1.3,
    kind: "most",
  });
  await database.pool.query("truncate outbox, screening_sessions cascade");
  await quiet("none");

  add(await screeningOverhead(stack, database, token));
  add({
    name: "cached public read / hello world",
    value: await throughputAgainstHello(stack.url),
    unit: "×",
    budget: 0.85,
    kind: "least",
  });
  await boardOfAMillion(database);
  let page = 0;
  add({
    name: "board page of 1,000,000 / primary-key read",
    value: await ratio(
      60,
      () => owner.get(`/api/v1/leaderboard?page=${(page += 1)}`),
      () => owner.get(`/api/v1/tasks/${tasks[0]?.id}?${page}`),
    ),
    unit: "×",
    budget: 3,
    kind: "most",
  });
  await database.close();
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

console.log("");
const over = report(figures);
process.exitCode = over === 0 ? 0 : 1;
