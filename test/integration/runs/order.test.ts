import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { buy, shortenSuites } from "../payments/certify-support.ts";
import { addAgent, addSuite, range } from "./support.ts";

/** How far the clocks of the Workers are ahead, in milliseconds: requests come to one after the other. */
const CLOCKS = [1500, 3300, 0, 1540, 1497, 2200];

interface Run {
  id: string;
  created_at: string;
}

let service: TestService;
let owner: User;
let agent: string;
/** Whose turn it is; before the first runs all have the same clock, so that everybody takes the session. */
let turn: number | null = null;
/** The runs of each batch, as it was answered. */
let batches: Run[][];

beforeAll(async () => {
  const now = () => {
    if (turn !== null) turn = (turn + 1) % CLOCKS.length;
    return new Date(Date.now() + (turn === null ? 0 : (CLOCKS[turn] ?? 0)));
  };
  service = await startService({ overrides: { now } });
  owner = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(owner);
  const suite = await addSuite(service, 8);
  turn = 0;
  const answers = await Promise.all(
    range(18).map((index) =>
      index % 3 === 0
        ? owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: suite.tasks[0] })
        : owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 3 }),
    ),
  );
  for (const { status, text } of answers) expect(status, text).toBeLessThan(300);
  batches = answers.map(({ body }) => [body].flat());
});

afterAll(() => service.stop());

const newestFirst = (times: string[]) => times.toSorted().toReversed();

/** All that a list has, page by page. */
async function pages(path: string): Promise<Run[]> {
  const items: Run[] = [];
  for (let page = 1; ; page++) {
    const { body } = await owner.call("GET", `${path}page=${page}&page_size=40`);
    items.push(...body.items);
    if (items.length >= body.total) return items;
  }
}

describe("runs that were made side by side, by Workers whose clocks differ", () => {
  it("are listed newest first by the times they show, each once", async () => {
    const runs = await pages(`/api/v1/runs?agent_id=${agent}&`);
    expect(runs.map(({ id }) => id).toSorted()).toEqual(
      batches
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    );
    const times = runs.map(({ created_at }) => created_at);
    expect(times).toEqual(newestFirst(times));
  });

  it("are exported in that same order", async () => {
    const { text } = await owner.call("GET", "/api/v1/runs/export.csv");
    const [header = "", ...lines] = text.trim().split("\r\n");
    const place = header.split(",").indexOf("created_at");
    const rows = lines.map((line) => line.split(","));
    const listed = await pages("/api/v1/runs?mine=true&");
    expect(rows.map((cells) => cells[0])).toEqual(listed.map(({ id }) => id));
    const times = rows.map((cells) => cells[place] ?? "");
    expect(times).toEqual(newestFirst(times));
  });

  it("have ids of their own time, in the order of their batch", () => {
    for (const batch of batches) {
      const ids = batch.map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted());
      for (const { id, created_at } of batch) {
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(Date.parse(created_at));
      }
    }
  });

  it("belong to sessions that are listed in the order of their times", async () => {
    const sessions = await pages(`/api/v1/agents/${agent}/screening-sessions?`);
    const times = sessions.map(({ created_at }) => created_at);
    expect(times).toEqual(newestFirst(times));
    const firsts = new Map(batches.map(([first]) => [first?.id ?? "", first?.created_at]));
    for (const session of sessions as (Run & { run_ids: string[] })[])
      expect(session.created_at).toBe(firsts.get(session.run_ids[0] ?? ""));
  });
});

it("gives the runs of a certification ids of their own time too", async () => {
  await shortenSuites(service);
  const certified = await addAgent(owner, { endpoint: "http://127.0.0.1:9" });
  const bought = await buy(owner, certified);
  expect(bought.status, bought.text).toBeLessThan(300);
  const [runs] = await service.sql<{ n: number; off: number }>(
    `select count(*)::int as n, count(*) filter (where uuid_extract_timestamp(id) <> created_at)::int as off
     from runs where agent_id = $1`,
    [certified],
  );
  expect(runs).toEqual({ n: 10, off: 0 });
});
