import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { vi } from "vitest";
import { startConsumer, type Consumer } from "../../stack/broker/harness.ts";
import type { Caller, User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";

/** What every task of `addSuite` asks for, unless the test says otherwise. */
export const KEY = "42";

/** An agent that answers every task of `addSuite` rightly, with a call that has a price. */
export const answersRightly: Handler = () =>
  json(200, { output: KEY, usage: { calls: [{ model: "m", input_tokens: 10, output_tokens: 1, cost_usd: 0.001 }] } });

/** An agent on loopback that notes what it gets; `answer` may be replaced while it runs. */
export async function startAgent(answer: Handler = answersRightly): Promise<Consumer> {
  const agent = await startConsumer();
  agent.answer = answer;
  return agent;
}

let names = 0;

/** A name that no other thing of this test file has. */
export function unique(prefix: string): string {
  names += 1;
  return `${prefix} ${names}`;
}

/** Registers an agent of `owner`: a mock one unless `fields` give an endpoint. Returns its id. */
export async function addAgent(owner: User, fields: object = {}): Promise<string> {
  const { status, body, text } = await owner.call("POST", "/api/v1/agents", { name: unique("Agent"), ...fields });
  if (status !== 201) throw new Error(text);
  return body.id;
}

/** A suite that `addSuite` made. */
export interface TestSuite {
  id: string;
  /** Its tasks, in order. */
  tasks: string[];
}

/** Adds a suite of `tasks` tasks which want the answer 42; `columns` are set on each of them. */
export async function addSuite(
  service: TestService,
  tasks: number,
  options: { slug?: string; secret?: boolean; columns?: Record<string, unknown> } = {},
): Promise<TestSuite> {
  const { slug = unique("suite"), secret = false, columns = {} } = options;
  const [suite] = await service.sql<{ id: string }>(
    `insert into suites (slug, name, is_secret) values ($1, $1, $2)
     on conflict (slug) do update set name = excluded.name returning id`,
    [slug, secret],
  );
  const id = suite?.id ?? "";
  const ids: string[] = [];
  for (let position = 1; position <= tasks; position++)
    ids.push(await addTask(service, { suite_id: id, position, is_secret: secret, ...columns }));
  return { id, tasks: ids };
}

/** Copies a suite's first task until the suite has so many. */
export async function growSuite(service: TestService, { tasks }: TestSuite, size: number): Promise<void> {
  const columns =
    "suite_id, title, domain, prompt, output_format, grader, expected_output, reference_cost_usd, reference_latency_ms";
  await service.sql(
    `insert into tasks (position, ${columns}) select n, ${columns} from tasks, generate_series(2, $2::integer) n where id = $1`,
    [tasks[0], size],
  );
}

async function addTask(service: TestService, columns: Record<string, unknown>): Promise<string> {
  const row: Record<string, unknown> = {
    title: unique("Task"),
    domain: "math",
    prompt: "What is six times seven?",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: JSON.stringify(KEY),
    reference_cost_usd: 0.002,
    reference_latency_ms: 2000,
    ...columns,
  };
  const fields = Object.keys(row);
  const [task] = await service.sql<{ id: string }>(
    `insert into tasks (${fields.join(", ")}) values (${fields.map((_field, index) => `$${index + 1}`).join(", ")}) returning id`,
    Object.values(row),
  );
  return task?.id ?? "";
}

/** An address of its own for each number, so that no limit of addresses is shared. */
export function from(number: number): Record<string, string> {
  return { "cf-connecting-ip": `10.200.${number >> 8}.${number & 255}` };
}

/** The run and the callback token in the body of a request that an agent got. */
export function callbackIn(body: Buffer | undefined): { runId: string; token: string } {
  const { run_id: runId, callback } = JSON.parse(body?.toString() ?? "") as {
    run_id: string;
    callback: { token: string };
  };
  return { runId, token: callback.token };
}

/** Submits one run and returns its id. */
export async function addRun(
  who: Caller,
  agentId: string,
  taskId: string,
  fields: object = {},
  headers?: Record<string, string>,
): Promise<string> {
  const answer = await who.call("POST", "/api/v1/runs", { agent_id: agentId, task_id: taskId, ...fields }, headers);
  if (answer.status !== 202) throw new Error(answer.text);
  return answer.body.id;
}

/** Delivers a message, or that about a run, to a consumer as QStash does, signed; resolves to the status of the answer. */
export function deliver(service: TestService, consumer: string, about: string | object): Promise<number> {
  return send(service, `/queues/${consumer}`, typeof about === "string" ? { run_id: about } : about);
}

/** Does what QStash does after the last failed try of such a message, which was answered by `status`. */
export function bury(service: TestService, consumer: string, about: string | object, status?: number): Promise<number> {
  const message = JSON.stringify(typeof about === "string" ? { run_id: about } : about);
  return send(service, "/queues/dead", {
    url: `${service.url}/queues/${consumer}`,
    sourceBody: Buffer.from(message).toString("base64"),
    status,
  });
}

async function send(service: TestService, path: string, about: object): Promise<number> {
  const url = service.url + path;
  const body = JSON.stringify(about);
  const signature = await new SignJWT({ body: createHash("sha256").update(body).digest("base64url") })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer("Upstash")
    .setSubject(url)
    .setIssuedAt()
    .setNotBefore("0s")
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(service.settings["QSTASH_CURRENT_SIGNING_KEY"]));
  const headers = { "content-type": "application/json", "upstash-signature": signature };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** How many rows there are of all that a submission may write. */
export async function reserved(service: TestService): Promise<Record<string, number>> {
  const [counts] = await service.sql<Record<string, number>>(`select
    (select count(*)::int from runs) as runs, (select count(*)::int from screening_sessions) as sessions,
    (select count(*)::int from outbox where consumer = 'dispatch') as outbox, (select coalesce(sum(used), 0)::int from allowances) as allowances`);
  return counts ?? {};
}

/** What is used of one allowance; 0 where nothing ever was. */
export async function used(service: TestService, kind: string, owner?: string): Promise<number> {
  const [row] = await service.sql<{ used: number }>(
    "select coalesce(sum(used), 0)::int as used from allowances where kind = $1 and owner = coalesce($2, owner)",
    [kind, owner ?? null],
  );
  return row?.used ?? 0;
}

/** How many answers had each status. */
export function tally(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Keeps the queue's client from saying on the console what the service logs anyway. */
export function quietQueueClient(): void {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
}

/** `size` numbers from 0. */
export const range = (size: number): number[] => Array.from({ length: size }, (_none, index) => index);
