import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createClient } from "../../../clients/typescript/src/client.ts";

const PATH = "/api/v1/screening-sessions/{session_id}/events";
const headers = { "content-type": "text/event-stream; charset=utf-8" };
const stream = (id: number) => () => new Response(`id: ${id}\nevent: session\ndata: {"id":"${id}"}\n\n`, { headers });
const over = () => new Response(null, { status: 204 });
const away = () => {
  throw new TypeError("fetch failed");
};
const page = (type: string) => () => new Response("<h1>Back soon</h1>", { headers: { "content-type": type } });
const refused = (status: number, code: string) => () => Response.json({ code, title: code }, { status });

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** What is told where the service answers each connection by one of these, the last one for ever; and how long that took. */
async function followed(answers: readonly (() => Response)[]) {
  const told: string[] = [];
  let calls = 0;
  const start = Date.now();
  const client = createClient({
    baseUrl: "http://service.test",
    retries: 1,
    fetch: async () => (answers[Math.min(calls++, answers.length - 1)] ?? over)(),
    sleep: async (ms) => void vi.setSystemTime(Date.now() + ms),
  });
  const ended = (async () => {
    for await (const { data } of client.follow(PATH, { path: { session_id: "s" } })) told.push(data.id);
    return "over";
  })();
  const end = await ended.catch((error: unknown) => (error instanceof Error ? error.message : ""));
  return { told: told.join(), end, minutes: (Date.now() - start) / 60_000 };
}

it("a stream begins and goes on after a time without the service", async () => {
  const gateway = [refused(503, "dependency_unavailable"), refused(502, "unknown")];
  for (const outage of [Array.from({ length: 10 }, () => away), gateway]) {
    expect(await followed([...outage, stream(1), over])).toMatchObject({ told: "1", end: "over" });
    expect(await followed([stream(1), ...outage, stream(2), over])).toMatchObject({ told: "1,2", end: "over" });
  }
  const elsewhere = () => new Response(null, { status: 302, headers: { location: "https://sign-in.test/" } });
  expect(await followed([stream(1), elsewhere, stream(2), over])).toMatchObject({ told: "1,2", end: "over" });
  expect((await followed([elsewhere])).end).toContain("redirects to https://sign-in.test");
});

it("a stream ends with the failure after two minutes without the service", async () => {
  // As behind a firewall that drops what is sent: each connection takes a while to be given up.
  const silent = () => {
    vi.setSystemTime(Date.now() + 10_000);
    return away();
  };
  for (const [before, outage] of [[[], away] as const, [[stream(1)], away] as const, [[stream(1)], silent] as const]) {
    const { told, end, minutes } = await followed([...before, outage]);
    expect([told, end]).toEqual([before.length === 0 ? "" : "1", "fetch failed"]);
    expect(minutes).toBeGreaterThanOrEqual(2);
    expect(minutes).toBeLessThan(3);
  }
});

it.each(["text/html; charset=utf-8", "text/plain"])("a page in place of a stream is no stream: %s", async (type) => {
  expect(await followed([stream(1), page(type), stream(2), over])).toMatchObject({ told: "1,2", end: "over" });
  const { told, end, minutes } = await followed([stream(1), page(type)]);
  expect([told, end]).toEqual(["1", expect.stringContaining(`answered 200 with ${type}`)]);
  expect(minutes).toBeGreaterThanOrEqual(2);
  expect((await followed([page(type)])).minutes).toBeLessThan(0.1);
});

it.each([
  [404, "not_found"],
  [429, "too_many_streams"],
  [503, "streams_full"],
])("a stream ends at once where the service refuses to go on: %s %s", async (status, code) => {
  const { told, end, minutes } = await followed([stream(1), refused(status, code)]);
  expect([told, end]).toEqual(["1", `${code}: ${code}`]);
  expect(minutes).toBeLessThan(0.1);
  expect((await followed([refused(status, code)])).minutes).toBeLessThan(0.1);
});
