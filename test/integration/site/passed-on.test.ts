import { afterAll, beforeAll, expect, it } from "vitest";
import { intervalOf } from "../../../functions/site/parts/in-words.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, answersRightly, startAgent } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let scored: string;
let fresh: string;

beforeAll(async () => {
  [service, endpoint] = [await startService(), await startAgent()];
  owner = await newUser(service, { plan: "team" });
  const suite = await addSuite(service, 2);
  const described = { endpoint: endpoint.url, description: `Knows "all".` };
  [scored, fresh] = [await addAgent(owner, described), await addAgent(owner, described)];
  endpoint.answer = answersRightly;
  await owner.call("POST", "/api/v1/runs/batch", { agent_id: scored, suite_id: suite.id });
  await service.settled();
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

/** What a page tells whoever its address is passed on to, as it is written. */
async function told(path: string, visitor = newVisitor(service)): Promise<Record<string, string>> {
  const { html } = await visitor.open(path);
  const metas = html.matchAll(/<meta (?:property|name)="((?:og|twitter):\w+|description)" content="([^"]*)"\/>/g);
  return Object.fromEntries(Array.from(metas, ([, name = "", content = ""]) => [name, content]));
}

it("is what is known of an agent, under its own address", async () => {
  const { body: agent } = await owner.call("GET", `/api/v1/agents/${scored}`);
  const page = `${service.url}/agents/${scored}`;
  const score = `${agent.composite_score.toFixed(2)} (${intervalOf(agent)}), ${agent.score_basis}`;
  const known = `AI agent, score ${score}. Knows &quot;all&quot;.`;
  expect(await told(`/agents/${scored}?utm_source=a`)).toEqual({
    description: known,
    "og:title": agent.name,
    "og:description": known,
    "og:site_name": "Agent Screening",
    "og:type": "website",
    "og:url": page,
    "og:image": `${page}/picture.svg`,
    "twitter:card": "summary",
  });
  const { description } = await told(`/agents/${fresh}`);
  expect(description).toBe("AI agent, of which no run counts yet. Knows &quot;all&quot;.");
});

it.each([
  ["/", "Board", /^Screens AI agents/],
  ["/docs/guides/the-score", "How the score comes about", /^A score has 100 points/],
  ["/docs/guides/minted-tasks", "No task is asked twice", /says instances: &quot;minted&quot;/],
])("is what a page for everybody has: %s", async (path, title, description) => {
  const { "og:title": shown, "og:description": said = "", "twitter:card": card } = await told(path);
  expect([shown, card]).toEqual([title, "summary"]);
  expect(said).toMatch(description);
});

it.each([
  ["/?q=a&page=2&utm_source=b", "/"],
  ["/?domain=planning&period=7d", "/?domain=planning"],
  ["/?page=2&utm_source=b", "/?page=2"],
  ["/agents/AGENT?utm_source=a", "/agents/AGENT"],
])("is found by one address: %s", async (path, address) => {
  const { html } = await newVisitor(service).open(path.replace("AGENT", scored));
  const named = /<link rel="canonical" href="([^"]*)"\/>/.exec(html)?.[1];
  expect(named).toBe(service.url + address.replace("AGENT", scored));
});

it("is nothing of a page that belongs to somebody", async () => {
  expect(await told("/home", await visitorOf(service, owner))).toEqual({});
});
