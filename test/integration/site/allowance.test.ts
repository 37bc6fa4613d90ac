import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let visitor: Visitor;
let suite: string;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  endpoint.answer = () => json(200, { output: "no" });
  owner = await newUser(service, { verified: true });
  visitor = await visitorOf(service, owner);
  suite = (await addSuite(service, 4, { slug: "four" })).id;
});
afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

const buttons = ({ forms }: Page): string[] =>
  forms.flatMap((form) => Object.keys(form.buttons)).filter((name) => name.startsWith("Run "));
const leadsToPlans = ({ links }: Page): boolean =>
  links.some(({ href, text }) => href === "/settings/plan" && text === "What each plan allows");
const leave = (runs: number) =>
  service.sql("update allowances set used = $2 where kind = 'user' and owner = $1", [owner.id, 50 - runs]);

/** A screening of four tasks, twice each, that nothing passed. */
async function failed(agent: string): Promise<string> {
  const asking = { agent_id: agent, suite_id: suite, repeats: 2, private: true };
  const runs = await owner.call("POST", "/api/v1/runs/batch", asking);
  await service.settled();
  return `/sessions/${runs.body[0].screening_session_id}`;
}

it("offers of what did not pass as much as the month has room for, and says so", async () => {
  const agent = await addAgent(owner, { name: "Ada", endpoint: endpoint.url });
  const path = await failed(agent);
  const whole = await visitor.open(path);
  expect([buttons(whole), leadsToPlans(whole)]).toEqual([["Run these 4 tasks again"], false]);

  await leave(5);
  const short = await visitor.open(path);
  expect(short.html).toMatch(/all 4 tasks again takes 8 runs\. You have <strong>5<\/strong> of 50 runs left/);
  expect([buttons(short), leadsToPlans(short)]).toEqual([["Run the first 2 of them again"], true]);
  const again = await visitor.send(short, "Run the first 2 of them again");
  expect(again.url.pathname).not.toBe(path);
  await service.settled();
  const repeated = await visitor.open(again.url.pathname);
  expect(repeated.html).toMatch(/Done: 4 of 4 runs have ended/);
  expect(repeated.html).toContain('<span class="tag">private</span>');

  // One run is left, and each task takes two.
  const none = await visitor.open(path);
  expect([buttons(none), leadsToPlans(none)]).toEqual([[], true]);
});

it("leads from what the plan refuses to the plans, and from no other limit", async () => {
  const agent = await addAgent(owner, { name: "Eve", endpoint: endpoint.url });
  await leave(50);
  const form = await visitor.open(await failed(agent));
  await leave(0);
  const refused = await visitor.send(form, "Run these 4 tasks again");
  expect([refused.status, refused.alerts]).toEqual([402, [expect.stringContaining("What each plan allows")]]);

  await service.sql(
    `insert into api_keys (user_id, name, prefix, key_hash, scope)
     select $1, 'Key ' || n, 'k' || n, 'hash ' || n, 'read' from generate_series(1, 100) n`,
    [owner.id],
  );
  const keys = await visitor.open("/settings/api-keys");
  const full = await visitor.send(keys, "Make the key", { name: "One more" });
  expect([full.status, full.alerts, leadsToPlans(full)]).toEqual([
    402,
    [expect.stringContaining("can have 100 keys")],
    false,
  ]);
});

it("leads nobody to the plans whose plan is the largest, and tells programs so", async () => {
  const largest = await newUser(service, { plan: "enterprise" });
  await service.sql(
    `insert into webhooks (user_id, url, event_types) select $1, 'https://x.example/', '{run.failed}' from generate_series(1, 100)`,
    [largest.id],
  );
  const own = await visitorOf(service, largest);
  const full = await own.send(await own.open("/settings/webhooks"), "Make the webhook", {
    url: endpoint.url,
    "run.failed": "true",
  });
  expect([full.status, full.alerts, leadsToPlans(full)]).toEqual([
    402,
    [expect.stringContaining("allows 100 webhooks. Delete one.")],
    false,
  ]);
  const asked = { url: endpoint.url, event_types: ["run.failed"] };
  const reached = { limit: 100, used: 100, resets_at: null, larger_plan: false };
  expect((await largest.call("POST", "/api/v1/webhooks", asked)).body).toMatchObject(reached);
  expect((await owner.call("POST", "/api/v1/webhooks", asked)).status).toBe(201);
  expect((await owner.call("POST", "/api/v1/webhooks", asked)).body).toMatchObject({ limit: 1, larger_plan: true });
});

it("says beside the agents how many the plan allows, wherever it says how many there are", async () => {
  const user = await newUser(service);
  await addAgent(user, { name: "Only one" });
  const own = await visitorOf(service, user);
  for (const path of ["/home", "/settings/plan"])
    expect((await own.open(path)).html, path).toContain("<dt>Agents</dt><dd>1 of 3</dd>");
});
