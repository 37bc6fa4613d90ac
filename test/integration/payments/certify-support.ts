import { Buffer } from "node:buffer";
import { issueCredential } from "../../../shared/certification/issue-credential.ts";
import { signature } from "../../stack/broker/delivery.ts";
import type { Answer, Caller, User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addSuite, KEY } from "../runs/support.ts";

export const CERTIFY = "/api/v1/certify";

/** A certification as its owner reads it. */
export interface Status {
  certification_id: string | null;
  status: string;
  screening_session_id: string | null;
  progress: { total: number; finished: number; passed: number };
  paused_reason: string | null;
  runs_missing: number;
  score: number | null;
  issued_at: string | null;
  expires_at: string | null;
}

/** Makes these the only active tasks: one of the core suite, and one of a secret suite; returns their ids. */
export async function shortenSuites(service: TestService): Promise<string[]> {
  await service.sql("update tasks set is_active = false");
  const core = await addSuite(service, 1, { slug: "core" });
  const secret = await addSuite(service, 1, { slug: "sealed", secret: true, columns: { domain: "safety" } });
  return [core, secret].flatMap(({ tasks }) => tasks);
}

/** An agent that answers every task rightly for `cost` US dollars. */
export const answersFor =
  (cost: number): Handler =>
  () =>
    json(200, { output: KEY, usage: { calls: [{ model: "m", input_tokens: 1, output_tokens: 1, cost_usd: cost }] } });

/** What a checkout answers, of all its kinds. */
type Bought = Record<"kind" | "url" | "certification_id" | "screening_session_id" | "status" | "code", string>;

/** Asks for a certification, with the waiver unless the test says otherwise. */
export function buy(
  who: Caller,
  agentId: string,
  fields: object = {},
  headers?: Record<string, string>,
): Promise<Answer<Bought>> {
  return who.call("POST", `${CERTIFY}/checkout`, { agent_id: agentId, eu_waiver_accepted: true, ...fields }, headers);
}

/** How far the latest certification of an agent is. */
export async function statusOf(who: Caller, agentId: string): Promise<Status> {
  const { status, body, text } = await who.call<Status>("GET", `${CERTIFY}/status?agent_id=${agentId}`);
  if (status !== 200) throw new Error(text);
  return body;
}

/** What an agent shows of its certification. */
export async function stateOf(service: TestService, agentId: string): Promise<string | undefined> {
  const [agent] = await service.sql<{ verified_state: string }>("select verified_state from agents where id = $1", [
    agentId,
  ]);
  return agent?.verified_state;
}

/** Has a certification go on, as its message does; resolves to the status of the answer. */
export async function goOn(service: TestService, certificationId: string | null): Promise<number> {
  const url = `${service.url}/queues/certify`;
  const body = JSON.stringify({ certification_id: certificationId });
  const key = service.settings["QSTASH_CURRENT_SIGNING_KEY"] ?? "";
  const headers = { "upstash-signature": signature(key, url, Buffer.from(body), Math.floor(Date.now() / 1000)) };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** The runs of an agent's certifications, counted by status. */
export async function runsOf(service: TestService, agentId: string): Promise<Record<string, number>> {
  const rows = await service.sql<{ status: string; runs: number }>(
    "select status, count(*)::int as runs from runs where agent_id = $1 and trigger = 'certification' group by status",
    [agentId],
  );
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}

/** The runs of an agent's certifications, counted by the kind of the allowance that pays them. */
export async function paidBy(service: TestService, agentId: string): Promise<Record<string, number>> {
  const rows = await service.sql<{ kind: string; runs: number }>(
    "select paid_kind as kind, count(*)::int as runs from runs where agent_id = $1 and trigger = 'certification' group by 1",
    [agentId],
  );
  return Object.fromEntries(rows.map(({ kind, runs }) => [kind, runs]));
}

/** Certifies an agent by a session that it has had, as the verdict does, and gives it its credential. */
export async function certify(service: TestService, agent: string, session: string, now = new Date()): Promise<void> {
  const [row] = await service.sql<{ id: string }>(
    `insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at, screening_session_id, score,
       issued_at, expires_at)
     select id, user_id, 'certified', 39, $3, $2, 88, $3, $3::timestamptz + interval '90 days' from agents where id = $1
     returning id`,
    [agent, session, now.toISOString()],
  );
  await issueCredential(
    contextOf(service, () => now),
    row?.id ?? "",
  );
}

/** Has `by` granted a certification of an agent that is called by nobody: its runs wait for a test to end them. */
export async function grantUnpublished(service: TestService, by: Caller, agent: string): Promise<string> {
  service.faults.set({ service: "qstash", mode: "error" });
  const { body } = await buy(by, agent);
  await service.settled();
  service.faults.set({ service: "qstash", mode: "none" });
  await service.sql("delete from outbox");
  return body.certification_id;
}

/** What the five runs of a task came to: how many passed, each for so many US dollars; the reference is 0.002. */
export interface Made {
  passed: number;
  cost?: number;
  ends?: "failed" | "cancelled" | "service_error";
  domain?: string;
}

/** Gives an agent of `owner` a certification whose runs came to this, at tasks that no other one is made of. Returns its id. */
export async function addEnded(
  service: TestService,
  { agent, owner, scored, made }: { agent: string; owner: User; scored: readonly string[]; made: readonly Made[] },
): Promise<string> {
  for (const [place, { domain = "math" }] of made.entries())
    await service.sql("update tasks set domain = $2 where id = $1", [scored[place], domain]);
  const plan = made.map((_one, place) => ({ task_id: scored[place], suite_version: 1, position: place + 1 }));
  const [session] = await service.sql<{ id: string }>(
    `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats) values ($1, $2, 'certification', $3, 5) returning id`,
    [agent, owner.id, JSON.stringify(plan)],
  );
  for (const [place, { passed, cost = 0.002, ends = "failed" }] of made.entries())
    await service.sql(
      `insert into runs (agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, scope, status,
         failure_code, passed, correctness, evidence_cost_usd, finalized_at)
       select $1, $2, 'certification', $3, $4, n, 5, 'personal',
         case when n <= $5 then 'completed' when $7 = 'cancelled' then 'cancelled' else 'failed' end,
         case when n > $5 and $7 = 'service_error' then 'service_error' end, case when $7 = 'failed' or n <= $5 then n <= $5 end,
         (n <= $5)::int, case when n <= $5 then $6::numeric end, now()
       from generate_series(1, 5) n cross join generate_series(1, case when n > $5 and $7 = 'service_error' then 4 else 1 end)`,
      [agent, scored[place], session?.id, place + 1, passed, cost, ends],
    );
  const [row] = await service.sql<{ id: string }>(
    `insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at, paid_at, screening_session_id)
     values ($1, $2, 'screening', 39, now(), now(), $3) returning id`,
    [agent, owner.id, session?.id],
  );
  return row?.id ?? "";
}
