import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillRecords, type GrowingRead, recordReads } from "../../bench/records.ts";
import { fillWorld } from "../../bench/world.ts";
import { TASK } from "../../bench/growth.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const SIZE = 400;
const IDS = { agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };

let service: TestService;
let callers: Record<GrowingRead["by"], Caller>;
let reads: Record<string, GrowingRead>;

beforeAll(async () => {
  service = await startService();
  const owner: User = await newUser(service, { plan: "enterprise" });
  const admin = await newUser(service, { email: "admin@example.test", verified: true });
  const viewers = { owner: owner.id, other: (await newUser(service)).id, ...IDS };
  // Twice, as the bench does: nothing of the smaller world is left in the larger one.
  for (const size of [SIZE / 4, SIZE]) {
    await fillWorld((text) => service.sql(text), viewers, size);
    await fillRecords((text) => service.sql(text), viewers, size);
  }
  const [task] = await service.sql<{ id: string; suite_id: string }>(TASK);
  callers = { owner, admin, anybody: caller(service) };
  reads = recordReads(viewers, { task: task?.id ?? "", suite: task?.suite_id ?? "" });
});

afterAll(() => service.stop());

/** Not everything that is read of an agent's environment is filled. */
const EMPTY = ["an agent's certification"];

describe("the bench reads what is there:", () => {
  const names = Object.keys(recordReads({ owner: "", other: "", ...IDS }, { task: "", suite: "" }));
  it.each(names)("%s", async (name) => {
    const { by, path, body, before } = reads[name] ?? { by: "anybody", path: "" };
    if (before !== undefined) await service.sql(before);
    const answer = await callers[by].call(body === undefined ? "GET" : "POST", path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body?.errors).toBeUndefined();
    if (answer.body?.items !== undefined && !EMPTY.includes(name)) expect(answer.body.items).not.toEqual([]);
  });
});
