import { randomUUID } from "node:crypto";
import { type Consumer, startConsumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, PASSWORD, type User } from "../../stack/client.ts";
import type { Handler, Request } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";
import { from } from "../runs/support.ts";

export const WEBHOOKS = "/api/v1/webhooks";
export const EVERY_MINUTE = "* * * * *";
export const SECRET = "a-secret-of-the-tests";

/** A subscription as its owner reads it. */
export interface Webhook {
  id: string;
  url: string;
  is_active: boolean;
  disabled_reason: string | null;
  [field: string]: unknown;
}

/** An attempt as the log shows it. */
export interface Delivery {
  id: string;
  event_id: string;
  event_type: string;
  attempt: number;
  status: string;
  response_status: number | null;
  response_excerpt: string | null;
  failure_detail: string | null;
  attempted_at: string | null;
  next_attempt_at: string | null;
}

/** A receiver on loopback that notes what it gets and answers 200, unless `answer` is another. */
export async function startReceiver(answer?: Handler): Promise<Consumer> {
  const receiver = await startConsumer();
  if (answer !== undefined) receiver.answer = answer;
  return receiver;
}

/** Subscribes `owner` to completed runs, unless `fields` say otherwise. */
export async function subscribe(owner: Caller, url: string, fields: object = {}): Promise<Webhook> {
  const body = { url, event_types: ["run.completed"], secret: SECRET, ...fields };
  const answer = await owner.call("POST", WEBHOOKS, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}

/** Owes an event about an agent, as a run's end does, and lets the minute trigger publish it. Returns its id. */
export async function announce(
  service: TestService,
  agentId: string,
  event: { type?: string; data?: object; id?: string; at?: Date } = {},
): Promise<string> {
  const { id = randomUUID(), type = "run.completed", data = { run: { agent_id: agentId } }, at } = event;
  const created_at = at?.toISOString() ?? "2026-11-21T09:00:00.123+00:00";
  const body = { id, type, created_at, agent_id: agentId, data };
  await service.sql("insert into outbox (consumer, id, body, due_at) values ('announce', $1, $2, now())", [id, body]);
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
  return id;
}

/** The log of a subscription, newest first. */
export async function logOf(owner: Caller, webhookId: string): Promise<Delivery[]> {
  const { status, body, text } = await owner.call("GET", `${WEBHOOKS}/${webhookId}/deliveries?page_size=100`);
  if (status !== 200) throw new Error(text);
  return body.items;
}

/** The same account with a session of this moment. */
export async function signedIn(service: TestService, user: User): Promise<Caller> {
  const credentials = { email: user.email, password: PASSWORD };
  const address = { "cf-connecting-ip": `10.99.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}` };
  const { body, text } = await caller(service, address).call("POST", "/api/v1/auth/login", credentials);
  if (body.access_token === undefined) throw new Error(text);
  return caller(service, { authorization: `Bearer ${body.access_token}`, ...address });
}

/** What of a request tells the deliveries apart. */
export function headersOf({ headers }: Request): { event: string; delivery: string; timestamp: string; v2?: string } {
  const [event, delivery, timestamp, v2] = ["event", "delivery", "timestamp", "signature-v2"].map(
    (name) => headers[`x-service-${name}`] as string | undefined,
  );
  return {
    event: event ?? "",
    delivery: delivery ?? "",
    timestamp: timestamp ?? "",
    ...(v2 === undefined ? {} : { v2 }),
  };
}

let requests = 0;

/** The same caller from an address of its own for each request, so that no limit is met. */
export function roaming(user: Caller): Caller {
  return {
    call(method, path, body, headers = {}) {
      requests += 1;
      return user.call(method, path, body, { ...from(requests), ...headers });
    },
  };
}

/** A workspace of `lead` whose members have these roles, in order. Returns its id. */
export async function newTeam(
  service: TestService,
  lead: User,
  members: readonly User[] = [lead],
  roles: readonly string[] = ["owner"],
): Promise<string> {
  const [row] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ('T', $1) returning id", [
    lead.id,
  ]);
  for (const [index, { id }] of members.entries())
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
      row?.id,
      id,
      roles[index],
    ]);
  return row?.id ?? "";
}
