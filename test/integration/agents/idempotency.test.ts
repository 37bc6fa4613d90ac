import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";
const REPLAYED = "idempotency-replayed";

let service: TestService;
let owner: User;
let other: User;

beforeAll(async () => {
  service = await startService();
  [owner, other] = await Promise.all([newUser(service, { plan: "pro" }), newUser(service)]);
});

afterAll(() => service.stop());

const create = (key: string, body: object, by = owner) => by.call("POST", AGENTS, body, { "idempotency-key": key });

const rows = (name: string) => service.sql("select from agents where name = $1", [name]);

describe("an Idempotency-Key", () => {
  it("gives the first response again, and makes nothing twice", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const first = await create(key, { name, description: "d" });
    expect([first.status, first.headers.get(REPLAYED)]).toEqual([201, null]);
    const again = await create(key, { description: "d", name });
    expect([again.status, again.text, again.headers.get(REPLAYED)]).toEqual([201, first.text, "true"]);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(await rows(name)).toHaveLength(1);
  });

  it("lets one of 10 requests at once through; the others wait or get its response", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, { name })));
    const kinds = answers.map(({ status, body, headers }) => [status, body.code ?? headers.get(REPLAYED)].join(" "));
    expect(kinds.filter((kind) => kind === "201 ")).toHaveLength(1);
    for (const kind of kinds) expect(["201 ", "201 true", "409 idempotency_in_progress"]).toContain(kind);
    expect(await rows(name)).toHaveLength(1);
    expect((await create(key, { name })).headers.get(REPLAYED)).toBe("true");
  });

  it("is 422 with another body", async () => {
    const key = randomUUID();
    await create(key, { name: randomUUID() });
    const answer = await create(key, { name: randomUUID() });
    expect([answer.status, answer.body.code]).toEqual([422, "idempotency_key_reused"]);
    expect(answer.headers.get(REPLAYED)).toBeNull();
  });

  it("is each caller's own", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const answers = [await create(key, { name }), await create(key, { name }, other)];
    expect(answers.map(({ status, headers }) => [status, headers.get(REPLAYED)])).toEqual([
      [201, null],
      [201, null],
    ]);
  });

  it("gives a refusal again too, though the reason is gone", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    const holder = await create(randomUUID(), { name });
    expect((await create(key, { name })).status).toBe(409);
    await owner.call("DELETE", `${AGENTS}/${holder.body.id}`);
    const again = await create(key, { name });
    expect([again.status, again.body.code, again.headers.get(REPLAYED)]).toEqual([409, "duplicate_name", "true"]);
  });

  it("does not keep what was refused before anything was tried", async () => {
    const [key, name] = [randomUUID(), randomUUID()];
    expect((await create(key, { name: 1 })).status).toBe(422);
    expect((await create(key, { name })).status).toBe(201);
  });

  it("is forgotten after 24 hours", async () => {
    const key = randomUUID();
    await create(key, { name: randomUUID() });
    await service.sql("update idempotency_keys set expires_at = expires_at - interval '24 hours' where key = $1", [
      key,
    ]);
    const answer = await create(key, { name: randomUUID() });
    expect([answer.status, answer.headers.get(REPLAYED)]).toEqual([201, null]);
  });

  it.each(["", " ", "a b", "é", "x".repeat(256)])(
    "is 422 unless it is 1 to 255 visible ASCII characters: %j",
    async (key) => {
      const answer = await create(key, { name: randomUUID() });
      expect([answer.status, answer.body.errors]).toMatchObject([422, [{ in: "header", pointer: "/Idempotency-Key" }]]);
    },
  );

  it.each(["!", "~", "x".repeat(255)])("is taken at the edges of that: %s", async (key) => {
    expect((await create(key, { name: randomUUID() })).status).toBe(201);
  });
});
