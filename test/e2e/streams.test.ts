import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventsOf } from "../integration/runs/run-events-support.ts";
import { caller } from "../stack/client.ts";
import { json, type Listening, listen } from "../stack/http.ts";
import { type Deployed, deploy, until } from "./deployed.ts";

let stack: Deployed;
let agent: Listening;
let letAnswer: () => void = () => undefined;

beforeAll(async () => {
  const answered = new Promise<void>((resolve) => (letAnswer = resolve));
  agent = await listen(async () => {
    await answered;
    return json(200, { output: "42" });
  });
  stack = await deploy();
});

afterAll(async () => {
  letAnswer();
  await agent.close();
  await stack.stop();
});

/** A reader at an address of its own, as far as it has read. */
function follow(path: string, address: string, headers: Record<string, string> = {}) {
  const gone = new AbortController();
  const reader = { status: 0, text: "", pieces: 0, ended: false, leave: () => gone.abort() };
  const read = async (): Promise<void> => {
    const answer = await fetch(stack.url + path, {
      headers: { "cf-connecting-ip": address, ...headers },
      signal: gone.signal,
    });
    reader.status = answer.status;
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) {
      reader.text += decoder.decode(piece, { stream: true });
      reader.pieces += 1;
    }
    reader.ended = true;
  };
  return { reader, done: read().catch(() => undefined) };
}

describe("event streams in workerd, each a request of its own", () => {
  it("share what one of them looks for, outlive it, and are counted by their caller", async () => {
    const registered = await stack.call("POST", "/api/v1/auth/register", {
      email: "owner@example.test",
      password: "correct horse battery",
    });
    const authorization = `Bearer ${registered.body.access_token}`;
    const owner = caller(stack, { authorization });
    const made = await owner.call("POST", "/api/v1/agents", { name: "Slow", endpoint: `${agent.url}/run` });
    const tasks = await stack.call("GET", "/api/v1/tasks?page_size=1");
    const ordered = { agent_id: made.body.id, task_id: tasks.body.items[0].id };
    const run = (await owner.call("POST", "/api/v1/runs", ordered)).body.id;
    const path = `/api/v1/runs/${run}/events`;
    await until(
      () => owner.call("GET", `/api/v1/runs/${run}/phases`),
      ({ body }) => body.items.length >= 2,
    );

    const anonymous = Array.from({ length: 25 }, (_, n) => follow(path, `198.51.100.${n % 5}`));
    const owners = Array.from({ length: 5 }, (_, n) => follow(path, `203.0.113.${n}`, { authorization }));
    const all = [...anonymous, ...owners].map(({ reader }) => reader);
    await until(
      () => Promise.resolve(all),
      () => all.every(({ pieces }) => pieces > 0),
    );
    expect(all.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const sixth = await stack.call("GET", path, undefined, { "cf-connecting-ip": "198.51.100.0" });
    expect([sixth.status, sixth.body.code]).toEqual([429, "too_many_streams"]);
    const refused = await owner.call("GET", path, undefined, { "cf-connecting-ip": "203.0.113.99" });
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_streams"]);

    // The one that looked first, and will look next, goes away with all others of its address.
    const left = anonymous.filter((_one, place) => place % 5 === 0);
    for (const { reader } of left) reader.leave();
    await Promise.all(left.map(({ done }) => done));

    // Their places are free, though nobody told the code that they left.
    await until(
      async () => {
        const again = follow(path, "198.51.100.0");
        await until(
          () => Promise.resolve(again.reader),
          ({ status }) => status !== 0,
        );
        again.reader.leave();
        return again.reader.status;
      },
      (status) => status === 200,
    );

    // What happens now is nobody's work but the readers': a look for one is a look for all.
    const staying = [...anonymous.filter((one) => !left.includes(one)), ...owners];
    await stack.console.call("POST", "/counters/reset");
    await stack.sql("update runs set status = 'cancelled', finalized_at = now() where id = $1", [run]);
    await Promise.all(staying.map(({ done }) => done));
    const { body: counters } = await stack.console.call("GET", "/counters");
    expect(counters.db.requests).toBeLessThan(staying.length / 2);
    for (const { reader } of staying) {
      expect(reader.ended).toBe(true);
      expect(eventsOf(reader.text).at(-1)).toMatchObject({ id: "final", event: "run", data: { id: run } });
    }
    for (const { reader } of owners) expect(eventsOf(reader.text).at(-1)?.data.scope).toBe("personal");
    for (const { reader } of anonymous) expect(reader.text).not.toContain('"scope"');
  });
});
