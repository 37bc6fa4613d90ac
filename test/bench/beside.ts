import type { Pool } from "pg";
import { createService } from "../../functions/service.ts";
import { DELIVERIES } from "../../queues/index.ts";
import type { Context } from "../../shared/platform/context.ts";
import { createPublisher } from "../../shared/queue/publish.ts";
import { deploy, type Deployed, until } from "../e2e/deployed.ts";
import { type Answer, caller } from "../stack/client.ts";
import { json, listen } from "../stack/http.ts";
import { openPool } from "../stack/neon/connections.ts";
import { DEVELOPMENT, newSecrets, type Settings } from "../stack/settings.ts";
import { buildWorker } from "../stack/worker/worker.ts";
import { type Baseline, startBaseline } from "./baseline.ts";
import { freePort } from "./heap.ts";

/** Requests that somebody sends from one address. */
const IN_A_ROW = 50;
/** An access token lives a quarter of an hour. */
const RENEWED_AFTER_MS = 10 * 60_000;

/** A request to the service. Throws for an answer that is no success: what is refused at once measures nothing. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer<any>>;

/** An account that was just made, or signed in to. */
interface Entered {
  access_token: string;
  user: { id: string };
}

/** What the parts stand on: a stack and each Worker have processes of their own, so that none shares a thread with this one. */
export interface Bench {
  /** The built Worker's first module. */
  entry: string;
  stack: Deployed;
  /** The database beside the service. */
  pool: Pool;
  baseline: Baseline;
  /** Runs SQL by the bare Worker and its driver, and returns the column `result`. */
  bare(text: string, params: unknown[]): Promise<unknown>;
  /** The port that the Worker's heap can be asked at. */
  inspector: number;
  /** An account without limits of use, and how it calls: from addresses enough to meet no limit of a minute. */
  account: { id: string; token: () => Promise<string> };
  owner: Call;
  /** The same from nobody in particular. */
  anybody: Call;
  /** The same from whoever has this token. */
  callerOf(bearer: string): Call;
  /** An agent of that account, which answers at once. */
  agent: string;
  /** A hundred public tasks. */
  tasks: string[];
  /** From an address of its own each. */
  register(email: string): Promise<Entered>;
  /** Does `work` while the queue takes nothing in, so that no consumer's work blurs it. What it owed is forgotten. */
  withoutQueue(work: () => Promise<void>): Promise<void>;
  /** Waits until nothing is owed to the queue, waits in it or is on its way: what a part began ends with it. */
  settled(): Promise<void>;
  /** Has the queue deliver now what it would in this time. */
  skip(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** SQL: forgets all runs, and what is owed for them. */
export const EMPTIED = "truncate outbox, screening_sessions, runs cascade";

export const PASSWORD = "correct horse battery";

/** Starts the stack, the bare Worker beside it, and an account with an agent. */
export async function startBench(): Promise<Bench> {
  const entry = await buildWorker();
  const inspector = await freePort();
  process.env["INSPECTOR_PORT"] = String(inspector);
  const stack = await deploy();
  const { pool, close: closePool } = openPool({ connectionString: stack.databaseUrl, max: 2 });
  const baseline = await startBaseline(stack.settings());
  const endpoint = await listen(() => json(200, { output: "42" }));

  let requests = 0;
  const callsFrom =
    (block: string, headers: () => Promise<Record<string, string>>): Call =>
    async (method, path, body) => {
      requests += 1;
      const address = `10.${block}.${Math.floor(requests / IN_A_ROW)}.1`;
      const call = caller(stack, { ...(await headers()), "cf-connecting-ip": address });
      return succeeded(await call.call(method, path, body), path);
    };
  let accounts = 0;
  const register: Bench["register"] = async (email) => {
    accounts += 1;
    return enter(stack, "register", email, `10.3.0.${accounts}`);
  };
  const email = "bench@example.test";
  const { user, ...first } = await register(email);
  const token = lasting(first.access_token, async () => (await enter(stack, "login", email, "10.3.1.1")).access_token);
  await pool.query("update users set plan = 'enterprise'");
  const owner = callsFrom("1", async () => bearerOf(await token()));
  const { body: agent } = await owner("POST", "/api/v1/agents", { name: "Bench", endpoint: `${endpoint.url}/run` });
  const { rows } = await pool.query<{ id: string }>("select id from tasks where not is_secret order by id limit 100");
  return {
    entry,
    stack,
    pool,
    baseline,
    inspector,
    owner,
    register,
    bare: async (text, params) =>
      succeeded(await caller(baseline).call("POST", "/sql", { text, params }), "the bare statement").body,
    account: { id: user.id, token },
    anybody: callsFrom("6", async () => ({})),
    callerOf: (bearer) => callsFrom("7", async () => bearerOf(bearer)),
    agent: agent.id,
    tasks: rows.map(({ id }) => id),
    async withoutQueue(work) {
      await stack.console.call("POST", "/faults", { service: "qstash", mode: "hang" });
      try {
        await work();
      } finally {
        await pool.query(EMPTIED);
        await stack.console.call("POST", "/faults", { service: "qstash", mode: "none" });
      }
    },
    async settled() {
      const owed = () => pool.query("select from outbox limit 1");
      const waiting = async () => {
        const { body } = await stack.console.call("GET", "/queue");
        return body.pending + body.in_flight + (await owed()).rows.length;
      };
      await until(waiting, (left) => left === 0);
    },
    async skip(ms) {
      await stack.console.call("POST", "/queue/advance", { ms });
    },
    async stop() {
      await endpoint.close();
      await baseline.stop();
      await closePool();
      await stack.stop();
    },
  };
}

/** Makes an account, or signs in to it. */
async function enter(stack: Deployed, how: "register" | "login", email: string, address: string): Promise<Entered> {
  const path = `/api/v1/auth/${how}`;
  const call = caller(stack, { "cf-connecting-ip": address });
  return succeeded(await call.call("POST", path, { email, password: PASSWORD }), path).body;
}

const bearerOf = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A token that is renewed in good time, since a slow machine takes longer over all parts than one lives. */
function lasting(first: string, renew: () => Promise<string>): () => Promise<string> {
  let token = Promise.resolve(first);
  let since = performance.now();
  return () => {
    if (performance.now() - since < RENEWED_AFTER_MS) return token;
    since = performance.now();
    token = renew();
    return token;
  };
}

function succeeded<T>(answer: Answer<T>, what: string): Answer<T> {
  if (answer.status >= 400) throw new Error(`${what} was answered with ${answer.status}: ${answer.text}`);
  return answer;
}

/** A context of the service in this process, on the database of a stack and nothing else of it but what `more` names. */
export async function contextBeside(stack: Deployed, more: Settings = {}): Promise<Context> {
  const nowhere = "http://127.0.0.1:9";
  const unused = { UPSTASH_REDIS_REST_URL: nowhere, QSTASH_URL: nowhere, DNS_RESOLVER_URL: nowhere };
  const settings = { ...DEVELOPMENT, ...(await newSecrets()), ...stack.settings(), ...unused, ...more };
  const service = createService({ ...settings, BASE_URL: stack.url, FRONTEND_URL: stack.url }, DELIVERIES);
  return service.context({ requestId: "bench", addressHash: null, defer: () => undefined });
}

/** The same, which publishes messages to the stack's queue as the service does. */
export async function publisherBeside(stack: Deployed): Promise<Context> {
  const ctx = await contextBeside(stack);
  ctx.queue = createPublisher({ ...ctx.env, ...stack.queue() }, DELIVERIES);
  return ctx;
}
