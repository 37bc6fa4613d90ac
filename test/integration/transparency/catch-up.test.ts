import { afterAll, beforeAll, expect, it } from "vitest";
import { catchUp } from "../../../shared/transparency/catch-up.ts";
import { inBulk } from "../../stack/bulk.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent } from "../runs/support.ts";

/** What was said before there was a log; each certification was signed and revoked. More than two pieces each. */
const CERTIFICATIONS = 11_000;
const RUNS = 12_000;
/** The most that a piece looks at. */
const SIZE = 5000;

let service: TestService;

beforeAll(async () => {
  service = await startService();
  const agent = await addAgent(await newUser(service));
  await service.sql(
    inBulk(
      ["certifications", "run_evidence"],
      `insert into certifications (agent_id, status, price_usd, eu_waiver_at, revoked_at, jws, kid)
         select '${agent}', 'expired', 39, now(), now(), 'credential ' || n, 'k' from generate_series(1, ${CERTIFICATIONS}) n;
       insert into run_evidence (run_id, jws, kid) select uuidv7(), 'run ' || n, 'k' from generate_series(1, ${RUNS}) n`,
    ),
  );
}, 60_000);

afterAll(() => service.stop());

async function entries(): Promise<number> {
  const [row] = await service.sql<{ n: number }>(
    `select count(*)::integer as n from log_entries
     where convert_from(entry, 'UTF8') ~ '"kind":"(run|credential|revoked)"'`,
  );
  return row?.n ?? 0;
}

it("puts all that was ever said into the log, piece by piece, in one statement each", async () => {
  const ctx = contextOf(service, () => new Date());
  const added: number[] = [];
  let before = await entries();
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    service.counters.reset();
    cursor = (await catchUp(ctx, cursor)).next;
    expect(service.counters.db.statements).toBe(1);
    const after = await entries();
    added.push(after - before);
    before = after;
  }
  expect(added).toEqual([2 * SIZE, 2 * SIZE, 2 * (CERTIFICATIONS % SIZE), SIZE, SIZE, RUNS % SIZE]);
});
