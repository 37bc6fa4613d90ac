import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ConsoleParts, startConsole } from "../../stack/console/console.ts";
import { type DnsResolver, startDnsResolver } from "../../stack/dns.ts";
import { createFaults, type FaultMode } from "../../stack/faults.ts";
import type { Listening } from "../../stack/http.ts";

let resolver: DnsResolver;
let console: Listening;
beforeEach(async () => {
  const faults = createFaults();
  // The console's other parts are not used here.
  console = await startConsole({ faults } as ConsoleParts, 0);
  resolver = await startDnsResolver({
    faults,
    zone: {
      "agent.example.com": { A: ["203.0.113.5", "203.0.113.6"], AAAA: ["2001:db8::5"], TXT: ["v=1"] },
      "alias.example.com": { CNAME: ["agent.example.com."] },
      "dangling.example.com": { CNAME: ["nowhere.example.com"] },
      "loop.example.com": { CNAME: ["loop.example.com"] },
      "private.example.com": { A: ["10.0.0.1"] },
    },
  });
});
afterEach(async () => {
  await resolver.stop();
  await console.close();
});

/** Sets a fault; resolves to the status and the body of the answer. */
async function tell(fault: object): Promise<[number, unknown]> {
  const response = await fetch(`${console.url}/faults`, { method: "POST", body: JSON.stringify(fault) });
  return [response.status, await response.json()];
}

interface Answer {
  Status: number;
  Question: { name: string; type: number }[];
  Answer?: { name: string; type: number; TTL: number; data: string }[];
}

async function ask(query: string): Promise<Answer> {
  const response = await fetch(`${resolver.url}?${query}`, { headers: { accept: "application/dns-json" } });
  expect(response.headers.get("content-type")).toBe("application/dns-json");
  return (await response.json()) as Answer;
}

describe("a name in the zone", () => {
  test.each([
    ["name=agent.example.com&type=A", ["203.0.113.5", "203.0.113.6"]],
    ["name=agent.example.com", ["203.0.113.5", "203.0.113.6"]],
    ["name=agent.example.com&type=AAAA", ["2001:db8::5"]],
    ["name=agent.example.com&type=28", ["2001:db8::5"]],
    ["name=agent.example.com&type=txt", ["v=1"]],
    ["name=AGENT.Example.com.&type=a", ["203.0.113.5", "203.0.113.6"]],
    ["name=localhost&type=A", ["127.0.0.1"]],
    ["name=localhost&type=AAAA", ["::1"]],
    ["name=alias.example.com&type=A", ["agent.example.com.", "203.0.113.5", "203.0.113.6"]],
    ["name=alias.example.com&type=CNAME", ["agent.example.com."]],
    ["name=dangling.example.com&type=A", ["nowhere.example.com"]],
  ])("%s", async (query, data) => {
    const answer = await ask(query);
    expect(answer.Status).toBe(0);
    expect(answer.Answer?.map((record) => record.data)).toEqual(data);
  });

  test("is answered record by record with name, type and TTL", async () => {
    expect(await ask("name=private.example.com&type=A")).toMatchObject({
      Status: 0,
      Question: [{ name: "private.example.com", type: 1 }],
      Answer: [{ name: "private.example.com", type: 1, TTL: 60, data: "10.0.0.1" }],
    });
  });

  test.each(["name=private.example.com&type=AAAA", "name=private.example.com&type=MX"])(
    "has no answer, but exists, for a type that it lacks: %s",
    async (query) => {
      const answer = await ask(query);
      expect(answer.Status).toBe(0);
      expect(answer).not.toHaveProperty("Answer");
    },
  );

  test("that stands for itself is answered in finite time", async () => {
    expect((await ask("name=loop.example.com&type=A")).Status).toBe(0);
  });
});

test.each(["name=unknown.example.com&type=A", "name=example.com", "name=constructor&type=A", "name=__proto__"])(
  "any other name does not exist: %s",
  async (query) => {
    const answer = await ask(query);
    expect(answer.Status).toBe(3);
    expect(answer).not.toHaveProperty("Answer");
  },
);

test("the zone can be replaced; localhost stays", async () => {
  resolver.setZone({ "new.example.com": { A: ["198.51.100.1"] }, localhost: { A: ["198.51.100.2"] } });
  expect((await ask("name=agent.example.com")).Status).toBe(3);
  expect((await ask("name=new.example.com")).Answer?.[0]?.data).toBe("198.51.100.1");
  expect((await ask("name=localhost")).Answer?.[0]?.data).toBe("127.0.0.1");
});

test.each(["", "type=A", "name=agent.example.com&type=", "name=agent.example.com&type=-1"])(
  "a malformed question is refused with 400: %j",
  async (query) => {
    expect((await fetch(`${resolver.url}?${query}`)).status).toBe(400);
  },
);

describe("a resolver that is made to fail", () => {
  const asking = () => ask("name=agent.example.com&type=A");

  test.each<[FaultMode, (response: Promise<Response>) => Promise<unknown>]>([
    ["down", (response) => expect(response).rejects.toThrow("fetch failed")],
    ["lost", (response) => expect(response).rejects.toThrow("fetch failed")],
    ["error", async (response) => expect((await response).status).toBe(503)],
    ["rate_limited", async (response) => expect((await response).status).toBe(429)],
    ["garbage", async (response) => expect((await response).json()).rejects.toThrow(/JSON/)],
    ["servfail", async (response) => expect(await (await response).json()).toEqual({ Status: 2, TC: false })],
    [
      "truncated",
      async (response) => expect(await (await response).json()).toMatchObject({ Status: 0, TC: true, Answer: [{}] }),
    ],
  ])("answers as it was told on the console, for as long: %s", async (mode, check) => {
    const fault = { service: "resolver", mode, count: 2 };
    expect(await tell(fault)).toEqual([200, fault]);
    for (const _call of [1, 2]) await check(fetch(`${resolver.url}?name=agent.example.com&type=A`));
    expect((await asking()).Answer).toHaveLength(2);
  });

  test("waits until the fault is lifted", async () => {
    await tell({ service: "resolver", mode: "hang" });
    const answer = asking();
    await tell({ service: "resolver", mode: "none" });
    expect((await answer).Answer).toHaveLength(2);
  });

  test.each([{ service: "dns", mode: "down" }, { service: "resolver", mode: "sulks" }, { service: "resolver" }])(
    "not by %j",
    async (fault) => {
      expect((await tell(fault))[0]).toBe(400);
      expect((await asking()).Answer).toHaveLength(2);
    },
  );
});
