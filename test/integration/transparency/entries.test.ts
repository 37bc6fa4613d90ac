import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;

beforeAll(async () => {
  service = await startService();
  [owner, endpoint, suite] = [await newUser(service), await startAgent(), await addSuite(service, 1)];
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Every entry there is, in its order. */
async function entries(): Promise<string[]> {
  const rows = await service.sql<{ entry: string }>(
    "select convert_from(entry, 'UTF8') as entry from log_entries order by id",
  );
  return rows.map(({ entry }) => entry);
}

/** What becomes of a statement of the database: `done`, or the SQLSTATE of its refusal. */
async function outcome(statement: string, params: unknown[] = []): Promise<string> {
  return service.sql(statement, params).then(
    () => "done",
    (error: { code: string }) => error.code,
  );
}

describe("what is said enters the log in the statement that commits it", () => {
  it("the evidence of a run, and that of a private one, by nothing but its digest", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const runs = [
      await addRun(owner, agent, suite.tasks[0] ?? ""),
      await addRun(owner, agent, suite.tasks[0] ?? "", { private: true }),
    ];
    await service.settled();
    const said = await service.sql<{ jws: string }>("select jws from run_evidence where run_id = any ($1)", [runs]);
    expect(said).toHaveLength(2);
    const expected = said.map(({ jws }) => `{"kind":"run","sha256":"${sha256(jws)}"}`);
    expect(await entries()).toEqual(expect.arrayContaining(expected));
  });

  it("not a simulated run: nothing is signed of it", async () => {
    const before = await entries();
    await addRun(owner, await addAgent(owner), suite.tasks[0] ?? "");
    await service.settled();
    expect(await entries()).toEqual(before);
  });

  it("a credential when it is signed and when it is revoked, each once, however it came to that", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const [made] = await service.sql<{ id: string }>(
      `insert into certifications (agent_id, status, price_usd, eu_waiver_at, issued_at)
        values ($1, 'certified', 39, now(), now()) returning id`,
      [agent],
    );
    const id = made?.id ?? "";
    const jws = `header.${randomUUID()}.signature`;
    const before = await entries();
    await service.sql("update certifications set jws = $2, kid = 'k' where id = $1", [id, jws]);
    await service.sql("update certifications set revoked_at = now(), jws = null where id = $1", [id]);
    await service.sql("update certifications set jws = $2, revoked_at = null where id = $1", [id, jws]);
    await service.sql("update certifications set revoked_at = now() where id = $1", [id]);
    expect((await entries()).slice(before.length)).toEqual([
      `{"kind":"credential","sha256":"${sha256(jws)}"}`,
      `{"credential":"${id}","kind":"revoked"}`,
    ]);
  });
});

describe("the database keeps", () => {
  it.each([
    ["an entry from being changed", "update log_entries set entry = 'x'"],
    ["an entry from being deleted", "delete from log_entries"],
    ["an entry from another place", "update log_entries set position = position + 1 where position is not null"],
    ["entries from being emptied", "truncate log_entries"],
    ["a tile from being changed", "update log_tiles set hashes = reverse(hashes)"],
    ["a tile from being shortened", "update log_tiles set hashes = substring(hashes for 32)"],
    ["a full tile from growing", "update log_tiles set hashes = hashes || sha256('x') where position = 1"],
    ["a tile from being deleted", "delete from log_tiles"],
    ["tiles from being emptied", "truncate log_tiles"],
    ["a checkpoint from being changed", "update log_checkpoints set root = sha256('x')"],
    ["a checkpoint from being deleted", "delete from log_checkpoints"],
    ["checkpoints from being emptied", "truncate log_checkpoints"],
    ["a second checkpoint of a size from being made", follows(2, 1)],
    ["a checkpoint that shrinks from being made", follows(1, 3)],
    ["a checkpoint after another than the last from being made", follows(9, 2)],
    ["a checkpoint after one that there never was from being made", follows(9, 4)],
    ["a second beginning from being made", follows(9, null)],
  ])("%s", async (_what, statement) => {
    await prepared;
    expect(["LG001", "23505", "23503", "23514"]).toContain(await outcome(statement));
  });

  it("the growth of a tile and the next checkpoint possible", async () => {
    await prepared;
    expect(await outcome("update log_tiles set hashes = hashes || sha256('x') where level = 60 and position = 0")).toBe(
      "done",
    );
    expect(await outcome(follows(4, 3))).toBe("done");
  });
});

function follows(size: number, previous: number | null): string {
  return `insert into log_checkpoints (size, previous_size, root, edge)
    values (${size}, ${previous}, sha256('root'), sha256('root'))`;
}

/** Checkpoints of the sizes 1 to 3, a tile of two hashes and a full one, an entry with a place. */
let prepared: Promise<unknown>;
beforeAll(() => {
  prepared = (async () => {
    for (const [size, previous] of [
      [1, null],
      [2, 1],
      [3, 2],
    ] as const)
      await service.sql(follows(size, previous));
    await service.sql(`insert into log_tiles values (60, 0, sha256('a') || sha256('b')),
      (60, 1, decode(repeat('00', 8192), 'hex'))`);
    await service.sql("insert into log_entries (position, entry) values (0, 'placed')");
  })();
});
