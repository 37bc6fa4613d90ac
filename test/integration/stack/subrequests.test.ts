import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json, type Listening, listen } from "../../stack/http.ts";
import { WORKERS } from "../../stack/limits.ts";
import { meterSubrequests } from "../../stack/subrequests.ts";
import type { RunningWorker } from "../../stack/worker/worker.ts";
import { startModule } from "./worker-support.ts";

const PATIENCE = { timeout: 20_000 };
let server: Listening;
/** Answers those that asked for `/held`, in the order they came. */
const held: (() => void)[] = [];

beforeAll(async () => {
  server = await listen(async ({ url }) => {
    if (url.pathname === "/held") await new Promise<void>((resolve) => held.push(resolve));
    return json(200, {});
  });
});

afterAll(() => server.close());

beforeEach(() => void held.splice(0));

const send = async () => (await fetch(server.url)).status;

describe("the service in this process", () => {
  it("may send so many requests in one invocation, and each one beyond is refused", async () => {
    const meter = meterSubrequests(WORKERS.subrequests.free);
    const sent = await meter.invoke("first", () => Promise.allSettled(Array.from({ length: 53 }, send)));
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    expect(sent.at(-1)).toMatchObject({ reason: { message: "Too many subrequests." } });
    expect(meter.invocations).toMatchObject([{ what: "first", sent: 50 }]);
  });

  it("counts what is left behind as the invocation's, and nothing of another one's, nor of what is outside", async () => {
    const meter = meterSubrequests(2);
    const left = Promise.withResolvers<number>();
    const first = meter.invoke("first", async () => {
      setImmediate(() => void send().then(left.resolve, left.reject));
      await Promise.all([send(), meter.invoke("second", () => Promise.all([send(), send()]))]);
    });
    await first;
    await left.promise;
    expect(await send()).toBe(200);
    expect(meter.invocations).toMatchObject([
      { what: "first", sent: 2 },
      { what: "second", sent: 2 },
    ]);
  });

  it("sends nothing of what was called off before its turn, and goes on with what is behind it", async () => {
    const calledOff = new AbortController();
    const hold = (signal: AbortSignal | null = null) => fetch(`${server.url}/held`, { signal });
    const sent = meterSubrequests().invoke("eight", () => {
      const six = Array.from({ length: 6 }, () => hold());
      return { seventh: hold(calledOff.signal), others: Promise.all([...six, hold()]) };
    });
    await expect.poll(() => held.length, PATIENCE).toBe(6);
    calledOff.abort();
    await expect(sent.seventh).rejects.toThrow("aborted");
    for (let answered = 0; answered < 7; answered += 1) {
      await expect.poll(() => held.length, PATIENCE).toBe(Math.min(6 + answered, 7));
      held[answered]?.();
    }
    await sent.others;
    expect(held).toHaveLength(7);
  });
});

describe("a Worker in workerd", () => {
  /** Sends as many requests at once as `at_once` says, and then, while its answer is read, one by one as `read` says. */
  const source = (target: string) => `
const counted = (request, name) => Number(new URL(request.url).searchParams.get(name) ?? 0);
const outcome = (sent) => sent.then(() => "sent", ({ message }) => message);
export default {
  async fetch(request) {
    const send = () => outcome(fetch("${target}" + new URL(request.url).pathname));
    const outcomes = await Promise.all(Array.from({ length: counted(request, "at_once") }, send));
    let left = counted(request, "read");
    return new Response(new ReadableStream({
      async pull(controller) {
        if (left-- > 0) outcomes.push(await send());
        const next = outcomes.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(next + "\\n"));
      },
    }));
  },
};`;
  let worker: RunningWorker;

  beforeAll(async () => {
    worker = await startModule(source(server.url), { subrequests: WORKERS.subrequests.free });
  });

  afterAll(() => worker.stop());

  const ask = async (path: string) => (await (await fetch(worker.url + path)).text()).trimEnd().split("\n");
  const refused = "Too many subrequests.";

  it.each(["/?at_once=51", "/?at_once=49&read=2", "/?read=51"])(
    "is refused the one request of an invocation that is too many: %s",
    async (path) => {
      expect(await ask(path)).toEqual([...Array(WORKERS.subrequests.free).fill("sent"), refused]);
    },
  );

  it("has seven at once leave as six and one", async () => {
    const seven = ask("/held?at_once=7");
    await expect.poll(() => held.length, PATIENCE).toBe(6);
    // Another invocation waits for nobody, and comes after whatever the first has sent.
    expect(await ask("/?at_once=6")).toEqual(Array(6).fill("sent"));
    expect(held).toHaveLength(6);
    held[0]?.();
    await expect.poll(() => held.length, PATIENCE).toBe(7);
    for (const answer of held) answer();
    expect(await seven).toEqual(Array(7).fill("sent"));
  });
});
