import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { from } from "../runs/support.ts";

let service: TestService;
let anonymous: Caller;

beforeAll(async () => {
  service = await startService();
  anonymous = caller(service, from(1));
  // The first document of an isolate pays for the schema.
  await anonymous.call("POST", "/graphql", { query: "{ __typename }" });
});

afterAll(() => service.stop());

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");

/** What of a document is more than a request may ask for; each is refused whole, before the database hears of it. */
const ATTACKS: Record<string, [query: string, message: RegExp, variables?: Record<string, unknown>]> = {
  "levels beyond the schema": [`{ ${"agents { items { ".repeat(20)} id ${"} } ".repeat(20)} }`, /depth limit/i],
  "levels hidden in fragments": [
    `{ ...f0 } ${times(8, (n) => `fragment f${n} on Query { agents { items { ...f${n + 1} } } }`)}
     fragment f8 on Query { __typename }`,
    /depth limit/i,
  ],
  "a fragment that spreads itself": ["{ ...a } fragment a on Query { ...a }", /cannot spread fragment/i],
  "fragments in a circle": [
    `{ ...f0 } ${times(40, (n) => `fragment f${n} on Query { suites { slug } ...f${(n + 1) % 40} }`)}`,
    /cannot spread fragment/i,
  ],
  "fragments in a circle through a field": [
    "{ agents { ...a } } fragment a on AgentPage { items { ...b } } fragment b on Agent { stats { ...a } }",
    /cannot spread fragment|can never be of type/i,
  ],
  "fragments that double at each step": [
    `{ ...f0 } ${times(40, (n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`)}
     fragment f40 on Query { agents(pageSize: 100) { items { stats { totalRuns } } }
     leaderboard(pageSize: 100) { items { ${times(40, () => "rank")} } } }`,
    /costs/,
  ],
  "sixty aliases": [`{ ${times(60, (n) => `a${n}: suites { slug }`)} }`, /aliases limit/i],
  "a hundred aliases of __typename": [`{ ${times(100, (n) => `a${n}: __typename`)} }`, /aliases limit/i],
  "aliases in fragments": [
    `{ ${times(4, (n) => `...f${n}`)} } ${times(4, (n) => `fragment f${n} on Query { ${times(8, (m) => `a${n}x${m}: suites { slug }`)} }`)}`,
    /aliases limit/i,
  ],
  "five thousand fields": [`{ ${times(5000, () => "suites")} }`, /tokens/i],
  "ten thousand brackets": [`{ task(id: ${"[".repeat(10_000)}`, /tokens/i],
  "two thousand operations": [times(2000, (n) => `query q${n} { __typename }`), /tokens/i],
  "fields that all have to be compared": [`{ suites { ${times(480, () => "slug")} key } }`, /cannot query field/i],
  "fifty directives": [`{ suites { ${times(50, () => "slug @skip(if: false)")} } }`, /directives limit/i],
  "a list of everything": ["{ agents(pageSize: 1000000000) { items { id } } }", /costs/],
  "a list of everything in a variable": [
    "query ($n: Int) { tasks(pageSize: $n) { items { id } } }",
    /costs/,
    { n: 2_147_483_647 },
  ],
  "a list of everything by default": ["query ($n: Int = 999999) { tasks(pageSize: $n) { items { id } } }", /costs/],
  "page after page of records": [
    `{ ${times(15, (n) => `a${n}: agents(page: ${n + 1}, pageSize: 100) { items { stats { totalRuns } } }`)} }`,
    /costs/,
  ],
  "introspection in circles": [
    `{ __schema { types ${"{ fields { type ".repeat(30)} { name } ${"} }".repeat(30)} } }`,
    /introspection depth/i,
  ],
  "a mutation": ["mutation { deleteAgent }", /mutation|queries/i],
  "a subscription": ["subscription { agents }", /subscription|queries/i],
  "fields that are not there": [`{ ${times(400, (n) => `f${n}`)} }`, /cannot query field/i],
  "variables of a wrong kind": [
    "query ($ids: [[[[ID!]!]!]!]!) { agent(id: $ids) { id } }",
    /of type/i,
    { ids: Array.from({ length: 5000 }, () => 1) },
  ],
};

// Processor time of caller and service together, of the round that took least: other work on the machine slows them down,
// and nothing makes them faster.
describe("a document that asks for too much", () => {
  it.each(Object.entries(ATTACKS))(
    "is refused within 50 ms of work: %s",
    async (_what, [query, message, variables]) => {
      const { requests } = service.counters.snapshot().db;
      const work: number[] = [];
      for (let round = 0; round < 5; round++) {
        const before = process.cpuUsage();
        const { status, body, text } = await anonymous.call("POST", "/graphql", { query, variables });
        const { user, system } = process.cpuUsage(before);
        work.push((user + system) / 1000);
        expect(status).toBe(200);
        expect(body.data).toBeUndefined();
        expect(body.errors[0].message).toMatch(message);
        // However much is wrong with it, the answer is short.
        expect(text.length).toBeLessThan(4000);
      }
      expect(service.counters.snapshot().db.requests).toBe(requests);
      expect(Math.min(...work)).toBeLessThan(50);
    },
  );

  it("leaves room for what is asked in earnest", async () => {
    const query = `{ agents(pageSize: 100) { items { id name stats { totalRuns successfulRuns recentRuns { id } } } }
      leaderboard(pageSize: 20) { items { rank name axes { correctness cost } } } suites { slug } }`;
    expect((await anonymous.call("POST", "/graphql", { query })).body.errors).toBeUndefined();
  });
});
