import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import type { TestService } from "../../stack/service.ts";
import { answersRightly } from "../runs/support.ts";
import { type Packed, startPacked, TASKS } from "./cli-support.ts";

let packed: Packed;
let service: TestService;
let endpoint: Consumer;
let folder: string;
let cli: Packed["cli"];

beforeAll(async () => {
  packed = await startPacked();
  ({ service, endpoint, folder, cli } = packed);
});

afterAll(() => packed.stop());

const screening = ["--suite", "dozen", "--repeats", "2"];

describe("runs that the service lost", () => {
  /** A screening whose agent answers rightly, and of which the service then loses the runs that `which` names in SQL. */
  async function screened(which: string): Promise<string> {
    endpoint.answer = answersRightly;
    const { stdout } = await cli(["screen", endpoint.url, ...screening]);
    const session_id = stdout.trim();
    await service.settled();
    await service.sql(
      `update runs set status = 'failed', failure_code = 'service_error', passed = null
        where screening_session_id = $1 and (${which})`,
      [session_id],
    );
    return session_id;
  }

  it("are told in every form of a report, and fail a gate with 3 only where a task has no other run", async () => {
    const one = "select task_id from runs where screening_session_id = $1 order by task_id limit 1";
    const some = await screened(`repeat_index = 1 or task_id = (${one})`);
    const files = ["--junit", join(folder, "lost.xml"), "--markdown", join(folder, "lost.md")];
    const shown = await cli(["screen", "--session", some, ...files]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^not counted +13 runs that the service/m) });
    expect(shown.stdout).toMatch(/^runs +11 of 11 tasks$/m);
    const junit = readFileSync(join(folder, "lost.xml"), "utf8");
    expect(junit).toContain(`<testsuites tests="24" failures="0" errors="0" skipped="13">`);
    expect(junit.match(/<skipped message="service_error[^"]*"\/>/g)).toHaveLength(13);
    const markdown = readFileSync(join(folder, "lost.md"), "utf8");
    expect(markdown).toContain("| not counted | 13 runs that the service");

    for (const gate of [["--fail-under", "10"], ["--fail-on-regression"]]) {
      const { code, stdout } = await cli(["screen", "--session", some, "--json", ...gate]);
      const { not_counted, verdict } = JSON.parse(stdout);
      expect([code, not_counted.length, verdict]).toEqual([3, 13, [expect.stringContaining("1 of 12 tasks")]]);
    }
    const halves = await screened("repeat_index = 1");
    expect(await cli(["screen", "--session", halves, "--fail-under", "70"])).toMatchObject({ code: 0 });
  });

  it("leave no score where there are no others, which ends with 3", async () => {
    const all = await screened("true");
    const { code, stdout } = await cli(["screen", "--session", all]);
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^score +none$/m)]);
    const read = await cli(["screen", "--session", all, "--fail-under", "70", "--json"]);
    expect([read.code, JSON.parse(read.stdout)]).toEqual([3, expect.objectContaining({ composite_score: null })]);
  });

  it("say nothing of a regression, neither before nor now", async () => {
    await screened("false");
    await screened("true");
    const halves = await screened("repeat_index = 1");
    const { code, stdout } = await cli(["screen", "--session", halves, "--fail-on-regression", "--json"]);
    const rates = { previous_pass_rate: 1, pass_rate: 1, regressed: false };
    expect([code, JSON.parse(stdout).regression]).toEqual([0, expect.objectContaining(rates)]);
  });
});

describe("the files of a report", () => {
  it("get the folders that they lie in", async () => {
    endpoint.answer = answersRightly;
    const file = join(folder, "reports/of/today/junit.xml");
    expect(await cli(["screen", endpoint.url, "--suite", "dozen", "--junit", file])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toContain(`<testsuites tests="${TASKS}"`);
  });

  it("are opened before a run begins: one that can't be written ends with 2", async () => {
    const count = () => service.sql<{ n: number }>("select count(*)::int as n from screening_sessions");
    const before = await count();
    const file = join(folder, "package.json/summary.md");
    const refused = await cli(["screen", endpoint.url, "--suite", "dozen", "--markdown", file]);
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(file) });
    expect(await count()).toEqual(before);
  });
});
