import { afterAll, beforeAll, expect, it } from "vitest";
import { COUNTED } from "../../../shared/db/listing.ts";
import { inBulk } from "../../stack/bulk.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { looked, planOf, type Recorder, scanned, startRecorder } from "../http/plans-support.ts";
import { LEAST, SUBMISSIONS } from "./submissions-support.ts";

/** Proposals of each status; every tenth one is flagged. */
const EACH = 40_000;
const TABLE = "task_submissions";

let recorder: Recorder;
let service: TestService;
let operator: User;
let proposer: User;

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  operator = await newUser(service, { email: "admin@example.test", verified: true });
  proposer = await newUser(service);
  const task = JSON.stringify({
    ...LEAST,
    input: null,
    output_format: "text",
    output_schema: null,
    tools: null,
    expected_tool_calls: null,
    time_limit_ms: 60_000,
    pass_threshold: 1,
  });
  await service.sql(
    inBulk(
      [TABLE],
      `insert into ${TABLE} (submitter_id, status, task, flags, created_at)
       select '${proposer.id}', status, '${task}', case when n % 10 = 0 then '{contains_url}'::text[] else '{}' end, now()
       from generate_series(1, ${EACH}) n, unnest('{pending,approved,rejected,withdrawn}'::text[]) status`,
    ),
  );
  await service.sql(`vacuum analyze ${TABLE}`);
}, 60_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

const FLAGGED = (4 * EACH) / 10;

it.each<[string, () => User, string, string, string, number]>([
  ["the queue of every status", () => operator, "", "", "(cardinality(flags) > 0) desc, id desc", COUNTED.byRow],
  [
    "that of one",
    () => operator,
    "?status=pending",
    "where status = 'pending'",
    "(cardinality(flags) > 0) desc, id desc",
    COUNTED.byRow,
  ],
  ["one's own", () => proposer, "/mine", "", "id desc", COUNTED.byIndex],
])(
  "%s is read page by page without the rest, and counted no further than lists are",
  async (_what, by, path, where, order, most) => {
    const joint = path.includes("?") ? "&" : "?";
    for (const page of [1, FLAGGED / 100 + 1, FLAGGED / 400 + 1]) {
      recorder.statements.length = 0;
      const { status, body, text } = await by().call("GET", `${SUBMISSIONS}${path}${joint}page_size=100&page=${page}`);
      expect(status, text).toBe(200);
      const rows = await service.sql<{ id: string }>(
        `select id from ${TABLE} ${where} order by ${order} limit 100 offset ${(page - 1) * 100}`,
      );
      expect(body.items.map(({ id }: { id: string }) => id)).toEqual(rows.map(({ id }) => id));
      expect([body.total, body.total_is_capped]).toEqual([most, true]);
      const statements = recorder.statements.filter(({ query }) => query.includes(TABLE));
      expect(statements).toHaveLength(1);
      for (const statement of statements) {
        const plan = await planOf(service, statement);
        expect(scanned(plan)).toEqual([]);
        // What is counted, of each scan what comes before the end of the page, and the page.
        expect(looked(plan, [TABLE])).toBeLessThanOrEqual(most + 1 + (path === "" ? 4 : 1) * page * 100 + 100);
      }
    }
  },
);
