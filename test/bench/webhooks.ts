import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Caller } from "../stack/client.ts";
import { flush } from "../../shared/db/outbox.ts";
import type { Context } from "../../shared/platform/context.ts";
import type { Message } from "../../shared/platform/message.ts";
import { type Measured, measured, ratio } from "./measure.ts";
import { startReceiver } from "./receiver.ts";

const RECEIVERS = 20;
const EVENTS = 25;
const ROUNDS = 20;
/** As many attempts as the service makes at once to one receiver. */
const PARALLELISM = 5;

/** Calls the service as the account that owns the agent. */
type Owner = (method: string, path: string, body: unknown) => Promise<{ body: { id: string } }>;

/**
 * What telling 25 events to 20 receivers takes, from the moment the events are owed to the last POST, over a bare loop of
 * fetch that makes as many POSTs of as many bytes to the same receivers with the same concurrency; and the database
 * requests a delivery until all outcomes are kept. The receivers are a process of their own, beside the Worker's and that
 * of the loop. Neither begins before those of the last round are. The events are
 * published as after any statement that owes some.
 */
export async function fanOutRatio(
  stack: { owner: Owner; console: Caller; pool: Pool; ctx: Context },
  agent: string,
): Promise<{ time: Measured; requests: Measured }> {
  const { owner, console, pool, ctx } = stack;
  const requests: number[] = [];
  const receiver = await startReceiver();
  const urls = Array.from({ length: RECEIVERS }, (_, n) => `${receiver.url}/${n}`);
  try {
    const first = { url: urls[0], event_types: ["run.completed"], secret: "a-secret-of-the-bench" };
    const { body: webhook } = await owner("POST", "/api/v1/webhooks", first);
    await pool.query(
      `insert into webhooks (user_id, url, event_types, secret)
       select user_id, u.url, event_types, secret from webhooks, unnest($2::text[]) as u(url) where id = $1`,
      [webhook.id, urls.slice(1)],
    );
    let isTold = false;
    /** Waits until every outcome is kept, and notes what telling took in all. */
    const kept = async () => {
      const pending = "select from webhook_deliveries where status = 'pending' limit 1";
      while ((await pool.query(pending)).rows.length > 0);
      const { body: counts } = await console.call("GET", "/counters");
      if (isTold) requests.push(counts.db.requests / (RECEIVERS * EVENTS));
      isTold = false;
      await console.call("POST", "/counters/reset", {});
    };
    const subject = async () => {
      const { reached } = await receiver.expect(RECEIVERS * EVENTS);
      const { rows: owed } = await pool.query<Message>(
        `insert into outbox (consumer, id, body)
         select 'announce', id, jsonb_build_object('id', id, 'type', 'run.completed', 'created_at', now(), 'agent_id',
           $2::uuid, 'data', '{}'::jsonb) from unnest($1::uuid[]) as e(id)
         returning consumer, id, generation, body, flow_key, not_before`,
        [Array.from({ length: EVENTS }, () => randomUUID()), agent],
      );
      await flush(ctx, owed);
      await reached;
      isTold = true;
    };
    const body = JSON.stringify({ id: randomUUID(), type: "run.completed", created_at: new Date(), data: {} });
    const loop = async (url: string) => {
      for (let n = 0; n < EVENTS / PARALLELISM; n += 1) await fetch(url, { method: "POST", body });
    };
    const base = () => Promise.all(urls.flatMap((url) => Array.from({ length: PARALLELISM }, () => loop(url))));
    const time = await ratio(ROUNDS, subject, base, { settle: kept });
    await kept();
    return { time, requests: measured(requests.slice(-ROUNDS)) };
  } finally {
    await pool.query("delete from webhooks");
    receiver.stop();
  }
}
