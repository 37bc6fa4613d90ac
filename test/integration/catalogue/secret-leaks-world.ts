import { Buffer } from "node:buffer";
import { vi } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json, type Reply, type Request } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";
import { attributesOf, spanOf } from "../../unit/telemetry/otlp.ts";
import { certify } from "../payments/certify-support.ts";
import { send, traceOf } from "../agents/otlp-support.ts";
import { addAgent, from, startAgent } from "../runs/support.ts";
import { decoded } from "./secret-leaks-support.ts";
import { askedOf, carryOut, reserveCertification, type TaskRow, tasksWhere } from "./secret-suites-support.ts";

/** Who may read what an agent itself has said. */
export const INSIDERS = ["owner", "member"];

/** What agents have done with secret tasks, and who is there to read of it. */
export interface World {
  /** Everybody who reads, INSIDERS among them. */
  readers: Record<"anonymous" | "stranger" | "owner" | "member" | "admin", Caller>;
  /** Agents of the insiders, by how they behave. */
  agents: Record<keyof typeof BEHAVIOURS, string>;
  /** A run of each agent, and the session of its runs. */
  runs: World["agents"];
  sessions: World["agents"];
  /** Every secret task, of every version, and what every run of one was asked. */
  secret: TaskRow[];
  /** What agents said of their failures, which the service passes on to insiders. */
  ownWords: string[];
  /** What the service sent to the queue, to Redis, by mail, and anywhere else but to agents and its database. */
  sent: { to: string; text: string }[];
  /** What callers were answered who did something with a secret task. */
  passing: string[];
  stop(): Promise<void>;
}

/** What an agent is told of a task. */
const heard = ({ prompt, input, tools }: TaskRow): string =>
  [prompt, JSON.stringify(input), JSON.stringify(tools)].join("\n");

const inHeader = (text: string): string => Buffer.from(text).toString("base64");

interface ToolCall {
  name: string;
  arguments: Record<string, unknown[]>;
}

/** The answer that a task wants, where its key is one. */
function rightly({ expected_output: key, output_format }: TaskRow): object {
  if (typeof key === "boolean") return { output: "Well.", refused: key };
  if (output_format !== "tool_calls") return { output: key ?? "A line." };
  const first = (allowed: ToolCall["arguments"]) =>
    Object.fromEntries(Object.entries(allowed).map(([name, [value]]) => [name, value]));
  return { output: null, tool_calls: (key as ToolCall[]).map((one) => ({ ...one, arguments: first(one.arguments) })) };
}

/** A wrong answer of the right kind, so that a grader has something to explain. */
function wrongly({ expected_output: key, output_format }: TaskRow): object {
  if (typeof key === "boolean") return { output: "Well.", refused: !key };
  if (output_format === "tool_calls") return { output: null, tool_calls: [{ name: "nothing", arguments: {} }] };
  return { output: Array.isArray(key) ? ["nothing"] : typeof key === "object" ? { nothing: 0 } : "0" };
}

/** The parts of a request that some agent looks at, native or by A2A. */
interface Asked {
  /** The run's id, by A2A and natively. */
  id?: string;
  run_id?: string;
  task?: { prompt: string };
  params?: { message: { parts: { text: string }[] } };
  callback: { url: string; token: string };
}

type Behaviour = (task: TaskRow, asked: Asked, world: World) => Promise<Reply> | Reply;

const BEHAVIOURS = {
  right: (task) => json(200, rightly(task)),
  wrong: (task) => json(200, wrongly(task)),
  echo: (task) => json(200, { output: heard(task) }, { "x-echo": inHeader(task.prompt) }),
  broken: (task) => json(500, { error: heard(task) }, { "x-error": inHeader(task.prompt) }),
  garbled: (task) => ({ status: 200, body: `{"output": ${heard(task)}` }),
  quarrelling: ({ prompt: message }, { id }) => json(200, { jsonrpc: "2.0", id, error: { code: -1, message } }),
  async confessing({ prompt: error }, { callback: { url, token } }, { passing }) {
    const agent = caller({ url: new URL(url).origin }, { authorization: `Bearer ${token}` });
    for (const status of [error, "failed"])
      passing.push((await agent.call("PATCH", new URL(url).pathname, { status, error }, newAddress())).text);
    return { status: 202 };
  },
} satisfies Record<string, Behaviour>;

/** Those with answers to explain: each has a task of every type of grader. */
const GRADED = ["right", "wrong"];

let addresses = 0;

/** An address that nobody else calls from. */
export function newAddress(): Record<string, string> {
  addresses += 1;
  return from(addresses);
}

/** Has agents of every kind carry out secret tasks, as certifications do, and everything that comes of it. */
export async function buildWorld(service: TestService): Promise<World> {
  const secret = await tasksWhere(service, "is_secret");
  const endpoint = await startAgent((request) => behave(service, world, request));
  const sent = record([service.url, endpoint.url, service.settings["NEON_LOCAL_PROXY"] ?? ""]);
  const owner = await newUser(service, { plan: "enterprise", verified: true });
  const member = await newUser(service, { verified: true });
  const admin = await newUser(service, { email: "admin@example.test", verified: true });
  const readers = { anonymous: caller(service), stranger: await newUser(service), owner, member, admin };
  const world: World = {
    readers,
    agents: {} as World["agents"],
    runs: {} as World["agents"],
    sessions: {} as World["agents"],
    secret,
    ownWords: [],
    sent,
    passing: [],
    async stop() {
      vi.restoreAllMocks();
      await endpoint.stop();
    },
  };
  const team_id = await teamOf(service, owner, member);
  const names = Object.keys(BEHAVIOURS) as (keyof typeof BEHAVIOURS)[];
  for (const [place, as] of names.entries()) {
    const agent_protocol = as === "quarrelling" ? "a2a" : "native";
    const fields = { endpoint: `${endpoint.url}?as=${as}`, agent_protocol, team_id, is_public: as !== "wrong" };
    world.agents[as] = await addAgent(owner, fields);
    const tasks = as === "echo" ? secret : oneOfEach(secret, place).slice(0, GRADED.includes(as) ? Infinity : 2);
    const ids = tasks.map(({ id }) => id);
    const { session, runs } = await reserveCertification(service, world.agents[as], ids);
    world.sessions[as] = session;
    world.runs[as] = runs[0] ?? "";
  }
  await carryOut(service);
  for (const as of ["echo", "wrong"] as const) await certify(service, world.agents[as], world.sessions[as]);
  await sendTelemetry(service, owner, world.agents.echo);
  world.passing.push(...(await meddle(world, [owner, admin])));
  await service.app.scheduled(DAILY);
  await service.settled();
  world.secret = await tasksWhere(service, "is_secret");
  for (const id of await runsOf(service)) world.secret.push(await askedOf(service, id));
  const failures = await service.sql<{ words: string }>(
    "select failure_detail as words from runs where failure_code in ('agent_reported_failure', 'agent_http_error')",
  );
  world.ownWords = failures.map(({ words }) => decoded(words).trim());
  return world;
}

/** A task of each type of grader, another one for another `place` where there are more. */
function oneOfEach(tasks: readonly TaskRow[], place: number): TaskRow[] {
  return Object.values(Object.groupBy(tasks, ({ grader }) => grader.type)).flatMap((same = []) =>
    same.slice(place % same.length).slice(0, 1),
  );
}

async function behave(service: TestService, world: World, { url, body }: Request): Promise<Reply> {
  const asked: Asked = JSON.parse(body.toString());
  const task = await askedOf(service, asked.run_id ?? asked.id ?? "");
  const prompt = asked.task?.prompt ?? asked.params?.message.parts[0]?.text;
  if (prompt !== task.prompt) throw new Error("an agent is sent what is not its run's instance");
  const behaviour: Behaviour = BEHAVIOURS[url.searchParams.get("as") as keyof typeof BEHAVIOURS];
  return behaviour(task, asked, world);
}

/** Notes every request that is not to one of `unnoted`, from now on. */
function record(unnoted: readonly string[]): World["sent"] {
  const { fetch: real } = globalThis;
  const sent: World["sent"] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { url, headers, body } = new globalThis.Request(input, init);
    if (!unnoted.some((one) => url.startsWith(one))) {
      const text = body === null ? "" : await new Response(body).text();
      sent.push({ to: url, text: [url, ...headers.values(), text].join("\n") });
    }
    return real(input, init);
  });
  return sent;
}

async function teamOf(service: TestService, owner: User, member: User): Promise<string> {
  const [team] = await service.sql<{ id: string }>(
    `with team as (insert into teams (name, owner_id) values ('T', $1) returning id), members as (
       insert into team_members (team_id, user_id, role)
       select id, x.user_id, x.role from team, (values ($1::uuid, 'owner'), ($2::uuid, 'member')) x(user_id, role))
     select id from team`,
    [owner.id, member.id],
  );
  return team?.id ?? "";
}

/** The runs of an agent, or all. */
async function runsOf(service: TestService, agent: string | null = null): Promise<string[]> {
  const rows = await service.sql<{ id: string }>("select id from runs where agent_id = coalesce($1, agent_id)", [
    agent,
  ]);
  return rows.map(({ id }) => id);
}

/** Sends spans that carry what was asked, as instrumentations of model calls do, for every run of an agent. */
async function sendTelemetry(service: TestService, owner: User, agent: string): Promise<void> {
  const { body } = await owner.call("POST", `/api/v1/agents/${agent}/otlp-token`);
  const runs = await runsOf(service, agent);
  const asked = await Promise.all(runs.map(async (id) => ({ id, prompt: (await askedOf(service, id)).prompt })));
  const spans = asked.map(({ id, prompt }) => {
    const call = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.prompt": prompt };
    const events = [{ name: prompt, attributes: attributesOf({ "gen_ai.input.messages": prompt }) }];
    const status = { code: 2, message: prompt };
    return spanOf({ traceId: traceOf(id), attributes: attributesOf(call), events, status });
  });
  const { status } = await send(service, body, spans, { json: true });
  const kept = await service.sql("select from spans");
  if (status !== 200 || kept.length < runs.length) throw new Error("the spans are not kept");
}

/** Rotates a suite, and tries to run what only certification may; gives the answers. */
async function meddle({ agents, secret }: World, [owner, admin]: [User, User]): Promise<string[]> {
  const { id: task_id, suite_id } = secret.at(-1) as TaskRow;
  const rotation = await admin.call("POST", "/api/v1/tasks/secret-suites/rotate", { suite_id });
  const run = await owner.call("POST", "/api/v1/runs", { agent_id: agents.right, task_id });
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agents.right, suite_id });
  return [rotation, run, batch].map(({ text }) => text);
}
