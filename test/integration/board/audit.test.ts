import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditBoard } from "../../commands/audit/board.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, from, KEY, startAgent, type TestSuite } from "../runs/support.ts";

const REPEATS = 3;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let core: TestSuite;
let time = Date.parse("2026-11-22T12:00:00Z");
let audited = 0;
let [mixed, plain, provisional, mock] = ["", "", "", ""];

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false");
  core = await addSuite(service, 3, { slug: "core", columns: { expected_tool_calls: 2 } });
  const other = await addSuite(service, 1);
  const live = { endpoint: endpoint.url };
  [mixed, plain, provisional] = [await addAgent(owner, live), await addAgent(owner, live), await addAgent(owner, live)];
  mock = await addAgent(owner);
  let calls = 0;
  // Right three times of four, at changing costs: reported, by the price list, and not told.
  endpoint.answer = () => {
    calls += 1;
    const usage = [
      { calls: [{ model: "gpt-5-mini", input_tokens: 1000 + 37 * calls, output_tokens: 10 * calls }] },
      { calls: [{ model: "m", input_tokens: 10, output_tokens: 1, cost_usd: 0.0007 * calls }] },
      { calls: [{ model: "nobody-knows" }] },
    ][calls % 3];
    return json(200, { output: calls % 4 === 0 ? "no" : KEY, usage, tool_calls: [{ name: "look", arguments: {} }] });
  };
  await screen(mixed, core.tasks, REPEATS);
  await screen(plain, [...core.tasks, ...other.tasks], 1);
  await screen(plain, core.tasks.slice(0, 1), 2);
  // More than are scored, and some that are not at all.
  await screen(provisional, core.tasks.slice(0, 1), 10);
  time += 60_000;
  await screen(provisional, core.tasks.slice(0, 1), 2);
  await screen(provisional, other.tasks, 1, { private: true });
  await screen(mock, core.tasks, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function screen(agent_id: string, task_ids: string[], repeats: number, fields: object = {}): Promise<void> {
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id, task_ids, repeats, ...fields });
  expect(batch.status, batch.text).toBe(200);
  await service.settled();
}

/** What the audit of an agent's row, or of all, finds, by agent. */
async function found(...agents: string[]): Promise<Record<string, string[] | null>> {
  time += 61_000;
  // Each from an address of its own, so that none waits for a limit.
  audited += 1;
  const audits: Record<string, string[] | null> = {};
  for await (const { row, differences } of auditBoard(service.url, agents, from(audited)))
    audits[row.agent_id] = differences;
  return audits;
}

describe("the audit of the board by public reads alone", () => {
  it("finds every row to be what its evidence makes it, to the last digit", async () => {
    expect(await found()).toEqual({ [mixed]: [], [plain]: [], [provisional]: [], [mock]: null });
    const [scored] = await service.sql(
      "select composite_score, runs from board_entries where agent_id = $1 and domain = 'all' and period = 'all'",
      [mixed],
    );
    expect(scored).toMatchObject({ runs: 3 * REPEATS });
    const [picked] = await service.sql(
      "select asked_runs, uneven from board_entries where agent_id = $1 and domain = 'all' and period = 'all'",
      [plain],
    );
    expect(picked).toEqual({ asked_runs: 5, uneven: true });
  });

  const one = "(select id from runs where agent_id = $1 order by finalized_at desc, id desc limit 1)";
  it.each([
    [
      "a score on the board",
      "board_entries",
      "composite_score = composite_score + 0.01",
      "agent_id = $1",
      /composite_score: the board has/,
    ],
    [
      "the spread of a score",
      "board_entries",
      "score_variance = score_variance * 0.98",
      "agent_id = $1",
      /score_low: the board has/,
    ],
    [
      "an axis",
      "board_entries",
      "robustness = robustness + 0.000001",
      "agent_id = $1",
      /axes.robustness: the board has/,
    ],
    [
      "how many runs there are",
      "board_entries",
      "runs = runs + 1",
      "agent_id = $1",
      /runs: the board has 10, computed is 9/,
    ],
    [
      "the tier",
      "board_entries",
      "tier = 1",
      "agent_id = $1",
      /score_basis: the board has provisional, computed is core/,
    ],
    ["what a run came to", "runs", "passed = not passed", `id = ${one}`, /passed is (?:true|false), signed is/],
    [
      "what a run cost",
      "runs",
      "evidence_cost_usd = coalesce(evidence_cost_usd, 0) + 0.0001",
      `id = ${one}`,
      /evidence_cost_usd is/,
    ],
    ["when a run ended", "runs", "finalized_at = finalized_at + interval '1 second'", `id = ${one}`, /finalized_at is/],
    ["whether a run counts", "runs", "trigger = 'trial'", `id = ${one}`, /runs: the board has 9, computed is 8/],
    [
      "a statement by a byte",
      "run_evidence",
      "jws = overlay(jws placing case when substr(jws, length(jws) - 20, 1) = 'A' then 'B' else 'A' end from length(jws) - 20)",
      `run_id = ${one}`,
      /its statement is invalid_signature/,
    ],
    [
      "a statement by another run's",
      "run_evidence",
      "jws = (select jws from run_evidence where run_id = (select id from runs where agent_id = $1 order by finalized_at, id limit 1))",
      `run_id = ${one}`,
      /id is .*, signed is/,
    ],
    [
      "what a task is measured against",
      "tasks",
      "reference_cost_usd = reference_cost_usd / 1000",
      "id = (select task_id from runs where agent_id = $1 limit 1)",
      /cost_efficiency: the board has/,
    ],
  ])("finds %s to be tampered with", async (_what, table, change, where, finding) => {
    const rows = `select to_jsonb(x) as row from ${table} x where ${where}`;
    const kept = await service.sql<{ row: object }>(rows, [mixed]);
    expect(kept.length).toBeGreaterThan(0);
    await service.sql(`alter table ${table} disable trigger all`);
    await service.sql(`update ${table} set ${change} where ${where}`, [mixed]);
    const differences = (await found(mixed))[mixed] ?? [];
    // Put back as it was.
    const [columns] = await service.sql<{ names: string }>(
      "select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns where table_name = $1 and is_generated = 'NEVER'",
      [table],
    );
    const key =
      table === "board_entries"
        ? "(o.agent_id, o.domain, o.period) = (n.agent_id, n.domain, n.period)"
        : table === "run_evidence"
          ? "o.run_id = n.run_id"
          : "o.id = n.id";
    for (const { row } of kept) {
      await service.sql(
        `update ${table} o set (${columns?.names}) = (select ${columns?.names} from jsonb_populate_record(null::${table}, $1::jsonb))
         from jsonb_populate_record(null::${table}, $1::jsonb) n where ${key}`,
        [JSON.stringify(row)],
      );
    }
    await service.sql(`alter table ${table} enable trigger all`);
    expect(differences.join("\n")).toMatch(finding);
  });

  it("as a command prints what differs, and ends with 1 where anything does", async () => {
    const command = (...args: string[]) =>
      new Promise<{ code: number; out: string }>((resolve) => {
        const script = fileURLToPath(new URL("../../commands/audit-board.ts", import.meta.url));
        execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === "number" ? error.code : 0, out: stdout + stderr });
        });
      });
    time += 61_000;
    const right = await command(service.url, mixed);
    expect([right.code, right.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`${mixed}\\t.*\\tas its evidence says`)),
    ]);
    await service.sql("update board_entries set success_rate = 1 where agent_id = $1", [mixed]);
    time += 61_000;
    const tampered = await command(service.url, mixed);
    expect([tampered.code, tampered.out]).toEqual([
      1,
      expect.stringMatching(/DIFFERS\n\tsuccess_rate: the board has 1, computed/),
    ]);
    expect((await command(service.url, core.id)).code).toBe(1);
    expect((await command()).code).toBe(2);
  });
});
