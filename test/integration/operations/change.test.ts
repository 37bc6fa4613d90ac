import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createService } from "../../../functions/service.ts";
import { DELIVERIES } from "../../../queues/index.ts";
import { ALWAYS, change, read, telling, verdict, write } from "../../../shared/db/change.ts";
import { owe } from "../../../shared/db/owed.ts";
import type { Context } from "../../../shared/platform/context.ts";
import type { Message } from "../../../shared/platform/message.ts";
import { notFound, Problem } from "../../../shared/platform/problem.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let contexts: ReturnType<typeof createService>;
/** What the queue was given, and the work that goes on after the answers. */
let published: Message[];
let deferred: Promise<unknown>[];

beforeAll(async () => {
  service = await startService();
  contexts = createService(service.settings, DELIVERIES, { log: () => undefined });
  await service.sql("create table counters (name text primary key, used integer not null)");
});

afterAll(() => service.stop());

beforeEach(async () => {
  published = [];
  deferred = [];
  await service.sql("delete from counters");
  await service.sql("insert into counters values ('a', 0)");
});

/** The context of one request, whose queue takes everything; with a key, as that of a request with an Idempotency-Key. */
function request(key?: string): Context {
  const ctx = contexts.context({
    requestId: "test",
    addressHash: null,
    defer: (work) => void deferred.push(work()),
  });
  ctx.queue = {
    publish(messages) {
      published.push(...messages);
      return Promise.resolve({ taken: [...messages], kept: [], refused: [], failure: null });
    },
  };
  if (key !== undefined) ctx.idempotency = { caller: "test", key, fingerprint: "same", replayed: false };
  return ctx;
}

const COUNTING = verdict({ full: sql`c.used >= 2` });

/** Counts one up, at most to 2, and owes the queue a message about it. */
function count(ctx: Context, name = "a"): Promise<{ used: number }> {
  return change(ctx, {
    lock: sql`select from counters where name = ${name} for update`,
    parts: sql`with target as (
      select c.name, c.used, ${COUNTING.sql} as outcome from counters c where c.name = ${name}
    ), updated as (
      update counters c set used = c.used + 1 from target t where c.name = t.name and t.outcome = 'done' returning c.used
    ), message as (${owe("recheck", randomUUID(), sql`jsonb_build_object('used', used)`, sql`from updated`)})`,
    owes: ["message"],
    result: sql`select jsonb_build_object('outcome', t.outcome, 'before', t.used,
      'used', (select used from updated)) as result from target t`,
    verdict: COUNTING,
    done: z.object({ used: z.int() }),
    refusals: {
      not_found: () => notFound("counter"),
      full: telling(
        z.object({ before: z.int() }),
        ({ before }) => new Problem("quota_exceeded", `${before} of 2 used.`),
      ),
    },
  });
}

const counted = () => service.sql<{ name: string; used: number }>("select name, used from counters");
const left = () => service.sql("select * from outbox");

describe("a change", () => {
  it("gives its result, and sends what it owes after the answer", async () => {
    expect(await count(request())).toEqual({ used: 1 });
    await Promise.all(deferred);
    expect(published.map(({ consumer, body }) => ({ consumer, body }))).toEqual([
      { consumer: "recheck", body: { used: 1 } },
    ]);
    expect(await left()).toEqual([]);
  });

  it("is refused by the first case that holds, which tells what the result says, and does nothing", async () => {
    await service.sql("update counters set used = 2");
    await expect(count(request())).rejects.toMatchObject({ code: "quota_exceeded", message: "2 of 2 used." });
    expect([await counted(), published, await left()]).toEqual([[{ name: "a", used: 2 }], [], []]);
  });

  it("of a row that is not there is not_found", async () => {
    await expect(count(request(), "b")).rejects.toMatchObject({ code: "not_found" });
    expect([await counted(), published]).toEqual([[{ name: "a", used: 0 }], []]);
  });

  it("sees what the changes that it waited for have committed", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => count(request())));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await counted()).toEqual([{ name: "a", used: 2 }]);
    await Promise.all(deferred);
    expect(published).toHaveLength(2);
  });

  it("throws where it comes to an outcome that its verdict does not name", async () => {
    const unnamed = change(request(), {
      parts: sql`with target as (select 'lost' as outcome)`,
      result: sql`select to_jsonb(t) as result from target t`,
      verdict: COUNTING,
      done: z.object({}),
      refusals: { not_found: () => notFound("counter"), full: () => notFound("room") },
    });
    await expect(unnamed).rejects.toThrow("a change came to lost, which its verdict does not name");
  });

  it.each([
    ["lacks a field", sql`jsonb_build_object('outcome', 'done')`],
    ["has another type", sql`jsonb_build_object('outcome', 'done', 'used', 'one')`],
    ["has no outcome", sql`jsonb_build_object('used', 1)`],
  ])("throws where its result %s", async (_what, result) => {
    const misread = change(request(), {
      parts: sql`with nothing as (select)`,
      result: sql`select ${result} as result`,
      verdict: ALWAYS,
      done: z.object({ used: z.int() }),
      refusals: { not_found: () => notFound("counter") },
    });
    await expect(misread).rejects.toThrow(z.ZodError);
  });
});

describe("a change under an Idempotency-Key", () => {
  it("that comes again is not made again, gives the same result, and sends no message twice", async () => {
    const key = randomUUID();
    const first = await count(request(key));
    const again = request(key);
    expect(await count(again)).toEqual(first);
    expect(again.idempotency).toMatchObject({ replayed: true });
    await Promise.all(deferred);
    expect(await counted()).toEqual([{ name: "a", used: 1 }]);
    expect(published).toHaveLength(1);
    expect(await left()).toEqual([]);
  });

  it("leaves to the sweeper what the first request owed and did not come to send", async () => {
    const key = randomUUID();
    const crashed = request(key);
    crashed.defer = () => undefined;
    await count(crashed);
    await count(request(key));
    await Promise.all(deferred);
    expect(published).toEqual([]);
    expect(await left()).toHaveLength(1);
    await service.sql("delete from outbox");
  });

  it("is refused again as it was, though the case holds no more", async () => {
    const key = randomUUID();
    await service.sql("update counters set used = 2");
    await expect(count(request(key))).rejects.toMatchObject({ code: "quota_exceeded" });
    await service.sql("update counters set used = 0");
    await expect(count(request(key))).rejects.toMatchObject({ code: "quota_exceeded", message: "2 of 2 used." });
    await expect(count(request(key), "b")).rejects.toMatchObject({ code: "quota_exceeded" });
    expect(await counted()).toEqual([{ name: "a", used: 0 }]);
  });

  it("of a row that was not there is not_found again, though it is there by now", async () => {
    const key = randomUUID();
    await expect(count(request(key), "b")).rejects.toMatchObject({ code: "not_found" });
    await service.sql("insert into counters values ('b', 0)");
    await expect(count(request(key), "b")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a write and a read", () => {
  it("give null without a row, and throw where the row is not as it is read", async () => {
    const parts = sql`with found as (select * from counters where used > 0)`;
    const select = sql`select to_jsonb(used) as result from found`;
    expect(await write(request(), { parts, select, result: z.int() })).toBeNull();
    expect(await read(request(), z.int(), sql`${parts} ${select}`)).toBeNull();
    await service.sql("update counters set used = 1");
    expect(await write(request(), { parts, select, result: z.int() })).toBe(1);
    await expect(write(request(), { parts, select, result: z.string() })).rejects.toThrow(z.ZodError);
    await expect(read(request(), z.string(), sql`${parts} ${select}`)).rejects.toThrow(z.ZodError);
  });
});
