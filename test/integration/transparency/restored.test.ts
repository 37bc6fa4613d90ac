import { afterAll, beforeAll, expect, it } from "vitest";
import type { Context } from "../../../shared/platform/context.ts";
import { integrate } from "../../../shared/transparency/integrate.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newSecrets } from "../../stack/settings.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, addRun, addSuite, deliver, startAgent } from "../runs/support.ts";
import { addEntries, reader } from "./support.ts";
import { audit, type Get } from "./verifier.ts";

const MINUTE = "* * * * *";
const TABLES = ["log_checkpoints", "log_tiles", "log_entries"];

let service: TestService;
let ctx: Context;
let get: Get;

beforeAll(async () => {
  service = await startService();
  ctx = contextOf(service, () => new Date());
  get = reader(service);
});

afterAll(() => service.stop());

async function backUp(name: string): Promise<void> {
  for (const table of TABLES) await service.sql(`create table ${table}_${name} as table ${table}`);
}

/** Sets the log's tables to what they were, as a database is by its vendor: no trigger and no rule of its own stops that. */
async function restore(name: string): Promise<void> {
  const copies = TABLES.map((table) => {
    const columns = table === "log_entries" ? "id, position, entry, created_at" : "*";
    const into = table === "log_entries" ? `(${columns}) overriding system value` : "";
    return `delete from ${table}; insert into ${table} ${into} select ${columns} from ${table}_${name};`;
  });
  await unhindered(copies.join(" "));
}

/** Does what triggers forbid. */
async function unhindered(statements: string): Promise<void> {
  await service.sql(`set session_replication_role = replica; ${statements} set session_replication_role = default`);
}

const checkpoint = async () => (await get("checkpoint")).toString();
const readiness = async () => (await (await fetch(`${service.url}/readyz`)).json()) as { status: string; log: string };
const failures = () => service.logs.filter((line) => line.includes("lacks the published state"));

it("never goes on from a state that is older than what was published, and says so until the lost part is back", async () => {
  await addEntries(service, 300);
  await service.app.scheduled(MINUTE);
  const early = await checkpoint();
  await backUp("early");
  await addEntries(service, 300);
  await service.app.scheduled(MINUTE);
  const late = await checkpoint();
  await backUp("late");
  expect(failures()).toEqual([]);

  await restore("early");
  await addEntries(service, 400);
  await service.app.scheduled(MINUTE);
  await expect(integrate(ctx)).rejects.toThrow("lacks the published state");
  expect(failures().length).toBe(1);
  expect(await checkpoint()).toBe(early);
  expect((await readiness()).log).toBe("ok");
  await unhindered("update log_entries set created_at = now() - interval '6 minutes' where position is null;");
  expect(await readiness()).toMatchObject({ status: "ok", log: "down" });
  const page = await (await fetch(`${service.url}/status`)).text();
  expect(page).toContain("<dt>Places in the public log</dt><dd>down</dd>");

  await restore("late");
  await addEntries(service, 10);
  await service.app.scheduled(MINUTE);
  expect(failures().length).toBe(1);
  expect((await readiness()).log).toBe("ok");
  await audit(get, (await get("key")).toString(), [early, late, await checkpoint()]);
});

it("a report that a database which was set back has forgotten is not held against its agent: the run is taken up again", async () => {
  const endpoint = await startAgent(() => ({ status: 202 }));
  const owner = await newUser(service, { plan: "pro" });
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const [task = ""] = (await addSuite(service, 1)).tasks;
  const run = await addRun(owner, agent, task);
  await service.settled();
  const waits = await service.sql("select awaiting_callback, deadline_at from runs where id = $1", [run]);
  expect(waits).toMatchObject([{ awaiting_callback: true }]);
  await backUp("before");
  await addEntries(service, 5);
  await service.app.scheduled(MINUTE);
  await backUp("after");

  await restore("before");
  const late = "update runs set deadline_at = now() - interval '1 second' where id = $1";
  await service.sql(late, [run]);
  expect(await deliver(service, "expire", run)).toBe(200);
  await service.app.scheduled(MINUTE);
  await service.settled();
  expect(endpoint.seen).toHaveLength(2);
  expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({
    status: "running",
    failure_code: null,
  });

  // What was taken up since is all in the database: who does not report is not asked a third time.
  await service.sql(late, [run]);
  expect(await deliver(service, "expire", run)).toBe(200);
  await service.settled();
  expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({ failure_code: "agent_timeout" });
  expect(endpoint.seen).toHaveLength(2);

  await restore("after");
  const other = await addRun(owner, agent, task);
  await service.settled();
  await service.sql(late, [other]);
  expect(await deliver(service, "expire", other)).toBe(200);
  await service.settled();
  expect((await owner.call("GET", `/api/v1/runs/${other}`)).body).toMatchObject({ failure_code: "agent_timeout" });
  await service.app.scheduled(MINUTE);
  await endpoint.stop();
});

it("places nothing while the store is away, since nobody can tell then whether the database was set back", async () => {
  await addEntries(service, 5);
  service.faults.set({ service: "redis", mode: "down" });
  await expect(integrate(ctx)).rejects.toThrow();
  service.faults.set({ service: "redis", mode: "none" });
  expect(await integrate(ctx)).toBe(5);
});

it("goes on as another log with another key, where the lost part is gone for good", async () => {
  const { LOG_SIGNING_KEY = "" } = await newSecrets();
  await restore("early");
  await addEntries(service, 5);
  await expect(integrate(ctx)).rejects.toThrow("lacks the published state");
  expect(await integrate({ ...ctx, env: { ...ctx.env, LOG_SIGNING_KEY } })).toBeGreaterThanOrEqual(5);
});

it("knows the published state again after the store lost it", async () => {
  await restore("late");
  const key = `log:${(await get("key")).toString().trim()}`;
  expect(await ctx.redis.del(key)).toBe(1);
  await addEntries(service, 5);
  await integrate(ctx);
  await restore("late");
  await expect(integrate(ctx)).rejects.toThrow("lacks the published state");
});
