import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { json } from "../../stack/http.ts";
import { addSuite, answersRightly } from "../runs/support.ts";
import { type Called, type Packed, startFront, startPacked } from "./cli-support.ts";

/** So many of the calls of a screening are answered wrongly: enough that it is not by chance. */
const WRONG = 8;

let packed: Packed;
let good: string;

beforeAll(async () => {
  packed = await startPacked();
  good = sessionOf(await screened());
});

afterAll(() => packed.stop());

const sessionOf = ({ stdout }: Called): string => (JSON.parse(stdout) as { session_id: string }).session_id;

/** Screens the agent, which answers so many calls wrongly. */
function screened(
  wrong = 0,
  options: readonly string[] = ["--json"],
  agent = packed.endpoint.url,
  more: Record<string, string> = {},
): Promise<Called> {
  let calls = 0;
  packed.endpoint.answer = (call) => (calls++ < wrong ? json(200, { output: "41" }) : answersRightly(call));
  return packed.cli(["screen", agent, "--suite", "dozen", "--skip-test", "--fail-on-regression", ...options], more);
}

const sessions = () => packed.service.sql<{ n: number }>("select count(*)::int as n from screening_sessions");

it("a regression names the tasks that were passed before, first of all, and the screening that it is one against", async () => {
  const [junit, markdown] = [join(packed.folder, "junit.xml"), join(packed.folder, "summary.md")];
  // One of its tasks may fail in both.
  const before = sessionOf(await screened(1));
  const found = await screened(WRONG, ["--junit", junit, "--markdown", markdown]);
  expect(found.code).toBe(1);
  expect(found.stdout).toMatch(/^failed: 8, [78] tasks passed more often before\n {2}\S.*: Passed 1 of 1 before\. /m);
  expect(found.stdout).toContain(`\nthe screening before: ${packed.service.url}/sessions/${before}\n`);
  const summary = readFileSync(markdown, "utf8");
  expect(summary).toMatch(
    /^### Failed: 8 of 12 runs, [78] tasks passed more often before\n\n\| Task \| Before \| Why /m,
  );
  expect(summary).toMatch(/---\|\n\| [^|]+ \| \*\*1 of 1\*\* \| [^|]+ \| \[open\]/);
  expect(summary).toContain(`[The screening before](${packed.service.url}/sessions/${before})`);
  expect(
    readFileSync(junit, "utf8").match(/<failure message="Passed 1 of 1 before\. [^"]+">/g)?.length,
  ).toBeGreaterThan(6);
});

it("a job that is run again passes by what it failed by, unless a baseline is named", async () => {
  expect(await screened(WRONG)).toMatchObject({ code: 0 });
  const found = await screened(WRONG, ["--json", "--baseline", good]);
  expect(found.code).toBe(1);
  expect(JSON.parse(found.stdout)).toMatchObject({
    regression: { regressed: true, previous_pass_rate: 1, baseline_session_id: good },
    failed: Array.from({ length: WRONG }, () => ({ before: { passed: 1, total: 1, worse: true } })),
    verdict: [expect.stringContaining("The pass rate fell from 100.0% to 33.3%")],
  });
});

it("an agent at another address is held to the baseline that is named", async () => {
  const preview = new URL("/preview", packed.endpoint.url).href;
  expect(await screened(WRONG, ["--json"], preview)).toMatchObject({ code: 0 });
  expect(await screened(WRONG, ["--baseline", good], preview)).toMatchObject({ code: 1 });
  expect(await screened(0, ["--baseline", good], preview)).toMatchObject({ code: 0 });
});

it("a baseline that decides nothing is refused before runs are spent", async () => {
  await addSuite(packed.service, 1, { slug: "single" });
  const single = sessionOf(await packed.cli(["screen", packed.endpoint.url, "--suite", "single", "--wait", "--json"]));
  const lost = sessionOf(await screened());
  await packed.service.sql(
    "update runs set status = 'failed', failure_code = 'service_error', passed = null where screening_session_id = $1",
    [lost],
  );
  const count = await sessions();
  for (const [baseline, why] of [
    ["", "it is no id of a screening"],
    [single, "it is of another suite"],
    [lost, "it has no graded run"],
    [crypto.randomUUID(), "not_found"],
  ] as const)
    expect(await screened(0, ["--baseline", baseline])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(why),
    });
  expect(await sessions()).toEqual(count);
});

it("at a service that compares no screenings, as an older one, a baseline is refused before runs are spent", async () => {
  const count = await sessions();
  const front = await startFront(packed.service, (path) => (path.includes("/compare?") ? { status: 404 } : null));
  try {
    const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
    expect(await screened(0, ["--baseline", good], packed.endpoint.url, there)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the service is older than this option"),
    });
  } finally {
    await front.stop();
  }
  expect(await sessions()).toEqual(count);
});
