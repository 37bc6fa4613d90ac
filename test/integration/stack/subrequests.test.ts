import { afterAll, beforeAll, expect, it } from "vitest";
import { json, type Listening, listen } from "../../stack/http.ts";
import { meterSubrequests, SUBREQUESTS } from "../../stack/subrequests.ts";

let server: Listening;

beforeAll(async () => {
  server = await listen(() => json(200, {}));
});

afterAll(() => server.close());

const send = async () => (await fetch(server.url)).status;

it("an invocation of a Worker may send so many requests, and each one beyond is refused", async () => {
  const meter = meterSubrequests(SUBREQUESTS.free);
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
