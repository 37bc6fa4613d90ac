import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let agent: string;
let own: string;
let team: string;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  owner = await newUser(service, { plan: "team", verified: true });
  team = (await owner.call("POST", "/api/v1/teams", { name: "Team" })).body.id;
  agent = await addAgent(owner, { name: "Marked", endpoint: endpoint.url, team_id: team });
  own = await addAgent(owner, { name: "Marked too", endpoint: endpoint.url });
  const { id: suite_id } = await addSuite(service, 1);
  for (const agent_id of [agent, own]) await owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id });
  await service.settled();
  await service.sql("update board_entries set uneven = true");
  for (const id of [agent, own])
    await service.sql(
      `insert into memorisation_gaps (agent_id, gap, variance, lowest, highest, tasks, canary_runs)
       values ($1, 1, 0, 1, 1, 4, 20)`,
      [id],
    );
});
afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

/** The marks that stand beside the name of an agent, up to the end of its line. */
function marksOf(html: string, name: string): string[] {
  const [line = ""] =
    html
      .split(`<bdi>${name}</bdi>`)
      .slice(1)[0]
      ?.split(/<\/tr>|<\/li>|<\/label>/) ?? [];
  return [...line.matchAll(/<span class="tag[^"]*">([^<]*)<\/span>/g)].map(([, mark = ""]) => mark);
}

it("stand beside the score of an agent wherever scores are compared", async () => {
  const visitor = await visitorOf(service, owner);
  const weights = { correctness: 1 };
  const card = (await owner.call("POST", "/api/v1/scorecards", { name: "Ours", weights })).body.id;
  const all = ["provisional", "memorised", "uneven"];
  const found: Record<string, string[]> = {};
  for (const path of ["/", `/scorecards/${card}`, "/compare"])
    found[path] = marksOf((await visitor.open(path)).html, "Marked").filter((mark) => mark !== "verified");
  expect(found).toEqual({ "/": all, [`/scorecards/${card}`]: all, "/compare": all });
  expect(marksOf((await visitor.open(`/workspaces/${team}`)).html, "Marked")).toEqual(all);
  expect(marksOf((await visitor.open("/home")).html, "Marked too")).toEqual(all);
});

it("stand beside the success of agents that are compared, whichever form asks for it", async () => {
  const visitor = await visitorOf(service, owner);
  const { html } = await visitor.open(`/compare?agents=${agent},${own}`);
  expect([marksOf(html, "Marked"), marksOf(html, "Marked too")]).toEqual([
    ["memorised", "uneven"],
    ["memorised", "uneven"],
  ]);
  const marks = { memorised: true, uneven: true };
  const compare = async (query: string) => (await owner.call("GET", `/api/v1/agents/compare?${query}`)).body;
  expect(await compare(`agent_ids=${agent},${own}`)).toMatchObject({ agents: [marks, marks] });
  expect(await compare(`a=${agent}&b=${own}`)).toMatchObject({ a: marks, b: marks });
  await service.sql("update board_entries set uneven = false where domain = 'math'");
  expect(await compare(`agent_ids=${agent},${own}&domain=math`)).toMatchObject({
    agents: [
      { memorised: true, uneven: false },
      { memorised: true, uneven: false },
    ],
  });
});

it("say of whom a comparison can tell nothing yet, and lead to the others", async () => {
  const visitor = await visitorOf(service, owner);
  const idle = await addAgent(owner, { name: "Idle", endpoint: endpoint.url });
  const said = "<bdi>Idle</bdi> has no scored run of a real call yet, so there is nothing to compare.";
  const open = (...ids: string[]) => visitor.open(`/compare?agents=${ids.join(",")}`);
  expect((await open(agent, own)).html).not.toContain("nothing to compare");
  const one = await open(agent, idle);
  expect([one.html.includes(said), one.html.includes("the others alone")]).toEqual([true, false]);
  const two = await open(agent, idle, own);
  expect(two.html).toContain(said);
  expect((await visitor.follow(two, "Compare the others alone")).url.search).toBe(`?agents=${agent},${own}`);
});

it("stand in the words of a page that tells of the score besides", async () => {
  const visitor = await visitorOf(service, owner);
  const { items } = (await owner.call("GET", `/api/v1/agents/${own}/screening-sessions`)).body;
  const words = async (path: string) =>
    (await visitor.open(path)).html.replaceAll(/<[^>]+>|\s+/g, " ").replaceAll(/ +/g, " ");
  expect(await words(`/sessions/${items[0].id}`)).toMatch(
    /score is [\d.]+ \([^)]+\), provisional, memorised, uneven: its/,
  );
  expect(await words(`/agents/${own}/certify`)).toMatch(
    /score so far is [\d.]+ \([\d.]+ to [\d.]+\), memorised, uneven/,
  );
});

it("tell by how much, and in which way, an agent passes samples more or less often than what is new to it", async () => {
  const visitor = await visitorOf(service, owner);
  for (const [gap, words] of [
    [1, "more often than new tasks: a difference of 100.0 percentage points"],
    [-0.25, "less often than new tasks: a difference of -25.0 percentage points"],
    [-0.0002, "as often as new tasks: a difference of 0.0 percentage points"],
  ] as const) {
    await service.sql("update memorisation_gaps set gap = $1", [gap]);
    const html = (await visitor.open(`/agents/${own}`)).html.replaceAll(/\s+/g, " ");
    expect(html).toContain(`passes the published samples ${words}`);
  }
});
