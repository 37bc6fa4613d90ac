import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { newUser } from "../../stack/client.ts";
import { WORKERS } from "../../stack/limits.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addOldRows, addScoredAgents, dailyStates, oldRows } from "./daily-support.ts";
import { addSuite } from "../runs/support.ts";

const AGENTS = 100_000;
const STALE = 500;
/** More than one piece, and more than one delivery, deletes. */
const OLD_ROWS = 6000;
const OLD_KEYS = 101_000;

let service: TestService;
let owner: string;

beforeAll(async () => {
  service = await startService();
  owner = (await newUser(service)).id;
  await service.sql("update tasks set is_active = false");
  const { tasks } = await addSuite(service, 1, { slug: "core" });
  await addScoredAgents(service, owner, tasks[0] ?? "", AGENTS, () => service.app.scheduled(DAILY));
  await addOldRows(service, owner, OLD_ROWS, OLD_KEYS);
  // The week's board still shows some whose run is long out of the week.
  for (const table of ["task_scores", "board_entries"]) {
    await service.sql(`insert into ${table} select (jsonb_populate_record(x, '{"period": "7d"}')).* from ${table} x
      where x.agent_id in (select id from agents order by id desc limit ${STALE})`);
  }
}, 180_000);

afterAll(() => service.stop());

it("is done for 100,000 agents by invocations that each send no more than the smallest plan allows", async () => {
  const before = await service.sql("select * from board_totals where period = 'all' order by domain");
  service.subrequests.limit = WORKERS.subrequests.free;
  service.subrequests.reset();
  service.counters.reset();
  service.logs.length = 0;
  await service.app.scheduled(DAILY);
  const states = [...(await dailyStates(service)).values()];
  expect(states.filter(({ last_success_at: at, last_error: error }) => at === null || error !== null)).toEqual([]);
  const deliveries = service.subrequests.invocations.filter(({ what }) => what === "POST /queues/daily");
  const most = Math.max(...service.subrequests.invocations.map(({ sent }) => sent));
  expect(deliveries.length).toBeGreaterThan(AGENTS / 200 / 20);
  expect(most).toBeLessThanOrEqual(WORKERS.subrequests.free);
  // Agent by agent it was seven statements for each.
  expect(service.counters.db.statements).toBeLessThan(AGENTS / 25);
  const summed = service.logs.filter((line) => line.includes('"recomputed"')).map((line) => JSON.parse(line));
  expect(summed.reduce((sum, { agents }) => sum + agents, 0)).toBe(AGENTS);
  expect(summed.reduce((sum, { differed }) => sum + differed, 0)).toBe(STALE);
  expect(await service.sql("select distinct period from board_entries union select period from task_scores")).toEqual([
    { period: "all" },
  ]);
  expect(await service.sql("select * from board_totals where period = 'all' order by domain")).toEqual(before);
  expect(await service.sql("select distinct listed::integer from board_totals where period = '7d'")).toEqual([
    { listed: 0 },
  ]);
  expect(await oldRows(service)).toEqual({ keys: 0, events: 0, sessions: 0, devices: 0, tokens: 0 });
}, 180_000);
