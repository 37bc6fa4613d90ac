import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent } from "../runs/support.ts";

const AGENTS = "/api/v1/agents";
const ADMIN = "operator@example.test";

let service: TestService;
let owner: User;
let admin: User;
let anonymous: Caller;

beforeAll(async () => {
  service = await startService({ settings: { ADMIN_EMAILS: ADMIN } });
  [owner, admin] = await Promise.all([
    newUser(service, { plan: "pro" }),
    newUser(service, { email: ADMIN, verified: true }),
  ]);
  anonymous = caller(service);
});

afterAll(() => service.stop());

/** Puts an agent on the board with a score, as its runs would. */
async function rank(id: string, score: number, tier: 0 | 1 | 2 = 0): Promise<void> {
  await service.sql("update agents set verified_state = 'verified' where id = $1", [id]);
  await service.sql(
    `insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate,
      reliability, cost_efficiency, correctness, robustness, runs, tasks, last_run_at, listed, verified)
     values ($1, 'all', 'all', $3, $2, 0, 1, 1, 1, 1, 1, 1, 1, now(), true, true)`,
    [id, score, tier],
  );
}

describe("scrubbing by name", () => {
  const scrub = async (pattern: string) => {
    const answer = await admin.call("POST", `${AGENTS}/admin/scrub-public?name_pattern=${encodeURIComponent(pattern)}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const onBoard = async () => (await anonymous.call("GET", "/api/v1/leaderboard")).body;

  it("makes private what contains the text in any case, and takes it off the board and the lists", async () => {
    const names = ["Old ACME bot", "acme two", "ÄCME three", "other"];
    const ids = [];
    for (const name of names) ids.push(await addAgent(owner, { name }));
    const hidden = await addAgent(owner, { name: "private acme", is_public: false });
    const before = (await owner.call("GET", `${AGENTS}/${hidden}`)).body;
    for (const id of ids) await rank(id, 50);
    expect((await onBoard()).total).toBe(4);
    expect(await scrub("Acme")).toEqual({ updated: 2, names: names.slice(0, 2) });
    expect(await scrub("acme")).toEqual({ updated: 0, names: [] });
    expect(await scrub("äcmE")).toEqual({ updated: 1, names: ["ÄCME three"] });
    expect(await onBoard()).toMatchObject({ total: 1, items: [{ name: "other" }] });
    expect((await anonymous.call("GET", AGENTS)).body.items.map(({ name }: { name: string }) => name)).toEqual([
      "other",
    ]);
    expect((await owner.call("GET", `${AGENTS}/${ids[0]}`)).body).toMatchObject({ is_public: false, is_active: true });
    expect((await owner.call("GET", `${AGENTS}/${hidden}`)).body).toEqual(before);
  });

  it.each(["%", "_", "\\", "50% off_", "'; drop table agents; --"])("takes the text literally: %s", async (pattern) => {
    const name = `literal ${pattern}`;
    await addAgent(owner, { name });
    expect(await scrub(pattern)).toEqual({ updated: 1, names: [name] });
  });

  it.each(["", "?name_pattern=", `?name_pattern=${"x".repeat(201)}`])(
    "needs 1 to 200 characters: %s",
    async (query) => {
      const answer = await admin.call("POST", `${AGENTS}/admin/scrub-public${query}`);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, "/name_pattern"]);
    },
  );

  it("is an operator's alone", async () => {
    const answer = await owner.call("POST", `${AGENTS}/admin/scrub-public?name_pattern=x`);
    expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
  });
});

describe("a declared configuration", () => {
  const declared = async (id: string) => {
    const { status, body } = await owner.call("GET", `/api/v1/playbooks/declared-configurations?agent_id=${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ agent_id: id, self_declared: true, declared: expect.any(Object) });
    return body.declared;
  };
  const SHOWN = { model: "m".repeat(200), framework: "f", version: "1", temperature: 0.7, max_steps: 12 };

  it("shows its five fields and hides everything else", async () => {
    const hidden = { prompt: "secret", examples: ["x"], tools: [{}], notes: "n", pricing: 1, agent_id: "x" };
    const id = await addAgent(owner, { declared_configuration: { ...SHOWN, ...hidden } });
    expect(await declared(id)).toEqual(SHOWN);
    expect(await declared(await addAgent(owner))).toEqual({});
  });

  it("leaves out what is not of its type, whatever it is", async () => {
    const id = await addAgent(owner);
    const any = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>("m", "m".repeat(201), 3, 3.5, -1, 1e300),
    );
    const text = (value: unknown) => typeof value === "string" && value.length <= 200;
    const fits: Record<keyof typeof SHOWN, (value: unknown) => boolean> = {
      model: text,
      framework: text,
      version: text,
      temperature: (value) => typeof value === "number",
      max_steps: (value) => Number.isSafeInteger(value),
    };
    const configuration = fc.record({ model: any, framework: any, version: any, temperature: any, max_steps: any });
    await fc.assert(
      fc.asyncProperty(configuration, async (values) => {
        const given = JSON.parse(JSON.stringify(values).replaceAll("\\u0000", "")) as typeof values;
        await service.sql("update agents set declared_configuration = $2 where id = $1", [id, JSON.stringify(given)]);
        const entries = Object.entries(given).filter(([name, value]) => fits[name as keyof typeof SHOWN](value));
        expect(await declared(id)).toEqual(Object.fromEntries(entries));
      }),
      { numRuns: 40 },
    );
  });
});

describe("a badge", () => {
  const badge = (id: string, by: Caller = anonymous, headers: Record<string, string> = {}) =>
    by.call("GET", `${AGENTS}/${id}/badge.svg`, undefined, headers);
  const said = (text: string) => /<title>agent screening: (.*?)<\/title>/.exec(text)?.[1];
  const widths = (text: string) => [...text.matchAll(/\bwidth="([\d.]+)"/g)].map(([, width]) => Number(width));

  it.each([
    ["unverified", null, undefined, "not certified"],
    ["unverified", 12, "ranked", "not certified"],
    ["verified", null, undefined, "verified"],
    ["verified", 7.25, "ranked", "verified 7.3"],
    ["verified", 100, "provisional", "verified, provisional 100.0"],
    ["verified", 100, "simulated", "verified"],
    ["certified", 100, "ranked", "verified 100.0"],
  ] as const)("of a %s agent with the score %s, %s, says %s", async (state, score, basis, message) => {
    const id = await addAgent(owner, { name: `<script>"&${randomUUID()}`.slice(0, 120) });
    if (score !== null) await rank(id, score, basis === "ranked" ? 0 : basis === "provisional" ? 1 : 2);
    await service.sql("update agents set verified_state = $2 where id = $1", [id, state]);
    const { status, text, headers } = await badge(id);
    expect([status, said(text)]).toEqual([200, message]);
    expect(text).toContain(`role="img" aria-label="agent screening: ${message}"`);
    expect(text).not.toMatch(/<script|&|on\w+=|href/);
    const [whole = 0, , left = 0, right = 0] = widths(text);
    expect(left + right).toBe(whole);
    expect(right).toBeGreaterThan(message.length * 5);
    expect(
      Object.fromEntries(
        ["content-type", "cache-control", "x-content-type-options"].map((name) => [name, headers.get(name)]),
      ),
    ).toEqual({
      "content-type": "image/svg+xml",
      "cache-control": "public, max-age=300",
      "x-content-type-options": "nosniff",
    });
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  });

  it("is 304 to who has it, and new when the agent changes", async () => {
    const id = await addAgent(owner);
    const etag = (await badge(id)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    const again = await badge(id, anonymous, { "if-none-match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
    await rank(id, 80);
    await owner.call("PATCH", `${AGENTS}/${id}`, { description: "changed" });
    const changed = await badge(id, anonymous, { "if-none-match": etag });
    expect([changed.status, said(changed.text)]).toEqual([200, "verified 80.0"]);
  });

  it("of an agent that is private, inactive or nobody's is the same 404, for its owner too", async () => {
    const [hidden, gone] = [await addAgent(owner, { is_public: false }), await addAgent(owner)];
    await owner.call("DELETE", `${AGENTS}/${gone}`);
    const answers = [];
    for (const id of [hidden, gone, randomUUID()])
      for (const by of [anonymous, owner]) answers.push(await badge(id, by, { "x-request-id": "same" }));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (const { status, body, headers } of answers) {
      expect([status, body]).toMatchObject([404, { code: "not_found" }]);
      expect(headers.get("content-type")).toBe("application/problem+json");
    }
  });
});
