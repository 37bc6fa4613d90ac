import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAGES } from "../../../functions/pages.ts";
import { ROUTES } from "../../../functions/routes.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

const NOBODYS = "01938e7a-0000-7000-8000-000000000009";
const NAME = "Known to its owner alone";

let service: TestService;
let endpoint: Consumer;
/** Keys of the owner of everything that is private here, by what they may do. */
const keys: Record<string, string> = {};
/** What is private, by the parameter that names it. */
let owned: Record<string, string>;

const pages = [
  ...(await Promise.all(Object.values(PAGES).map((load) => load()))).flat(),
  ...ROUTES.filter(({ tag }) => tag === "Pages"),
].map(({ path }) => path);

beforeAll(async () => {
  const now = new Date();
  // The clock stands, so that a page which tells the time is the same each time.
  service = await startService({ overrides: { now: () => now } });
  endpoint = await startAgent();
  const owner = await newUser(service, { plan: "pro" });
  const suite = await addSuite(service, 1);
  const agent = await addAgent(owner, { name: NAME, endpoint: endpoint.url, is_public: false });
  const runs = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 1 });
  await service.settled();
  const [{ id: run, screening_session_id: session }] = runs.body;
  owned = { "{agent_id}": agent, "{run_id}": run, "{session_id}": session };
  for (const [name, wish] of [
    ["everything", { scope: "write" }],
    ["webhooks alone", { scopes: ["webhooks:read"] }],
  ] as const) {
    const { body, text } = await owner.call("POST", "/api/v1/api-keys", { name, ...wish });
    expect(body.key, text).toBeDefined();
    keys[name] = body.key;
  }
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

let visits = 0;

/** What is answered at a path, asked in this process: the document of the interface, by which others are checked, has no pages. */
async function told(path: string, headers: Record<string, string>) {
  visits += 1;
  const known = path.replaceAll(/\{\w+\}/g, (name) => owned[name] ?? (name === "{slug}" ? "core" : NOBODYS));
  const address = `172.28.${visits >> 8}.${visits & 255}`;
  const answer = await service.app.fetch(
    new Request(service.url + known, {
      headers: { accept: "text/html", "x-request-id": "same", "cf-connecting-ip": address, ...headers },
    }),
    {},
    { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} },
  );
  return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
}

describe("a page", () => {
  it.each(pages)("tells the owner's API keys what it tells everybody: %s", async (path) => {
    const everybody = await told(path, {});
    expect(everybody.text).not.toContain(NAME);
    for (const key of Object.values(keys)) {
      expect(await told(path, { "x-api-key": key })).toEqual(everybody);
      expect(await told(path, { authorization: `Bearer ${key}` })).toEqual(everybody);
    }
  });
});
