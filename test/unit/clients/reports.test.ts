import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { EXIT, Failure } from "../../../clients/cli/src/failure.ts";
import { provenFiles, told } from "../../../clients/cli/src/report-files.ts";
import { numbersOf, toMarkdown, toMarkdownOfError } from "../../../clients/cli/src/reports.ts";
import type { Results, Run, Task } from "../../../clients/cli/src/results.ts";
import { composite } from "../../../shared/scoring/score.ts";

it("the summary of an error has what it is in bold, and what to do below, a paragraph each", () => {
  const message = "no_scope: *This* key\n  body /x: wrong\nMake another one.";
  expect(toMarkdownOfError({ agent: "A", message, goesOnBy: "go on" })).toBe(
    "## A: no score\n\n**no&#95;scope: &#42;This&#42; key**\n\nbody /x: wrong\n\nMake another one.\n\n" +
      "The screening itself goes on; wait for it by: `go on`\n",
  );
});

const SOURCE = new URL("../../../clients/cli/src/report-files.ts", import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), "reports-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what a report counts", () => {
  /** As far as a report looks at it: one task of one run, which failed, beside so many others that do not count. */
  const resultsWith = (others: number): Results => {
    const [run, task] = [{ id: "r" } as Run, { title: "Sums" } as Task];
    const one = { run, task, reason: "41", before: null };
    return {
      agent: { name: "Agent" },
      session: { started_at: null, finished_at: null },
      link: "",
      linkOf: () => "",
      score: { ...composite([]), runs: 1 },
      passed: 0,
      tasks: [{ task, runs: [run] }],
      failed: [one],
      lost: Array.from({ length: others }, () => one),
      missing: 0,
      canaries: others,
      regression: null,
    } as unknown as Results;
  };

  it.each([
    [1, "1 over 1 task, and 1 canary, which does not count", "1 run that the service could not carry out"],
    [2, "1 over 1 task, and 2 canaries, which do not count", "2 runs that the service could not carry out"],
  ])("is in the singular for one alone: %i", (others, runs, lost) => {
    const results = resultsWith(others);
    expect(Object.fromEntries(numbersOf(results))).toMatchObject({ runs, "not counted": lost });
    expect(toMarkdown(results, [])).toContain("### Failed: 1 of 1 run\n");
  });
});

describe("the files of a report of what fails", () => {
  const files = { junit: join(folder, "junit.xml"), markdown: join(folder, "summary.md") };
  const read = () => [readFileSync(files.junit, "utf8"), readFileSync(files.markdown, "utf8")];
  const said: string[] = [];
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      said.push(String(chunk));
      done();
    },
  });
  const terminal = { env: {}, stdout: stderr, stderr };
  const error = new Failure(EXIT.service, 'no <answer> & "nobody"\nthere');
  const failing = async (known: { agent: string; goesOnBy: string | null }, there = files) =>
    told(there, known, terminal, async () => {
      throw error;
    }).catch((caught: unknown) => caught);

  beforeEach(() => {
    said.length = 0;
    for (const file of Object.values(files)) writeFileSync(file, "of before");
  });

  it("keep what they held until there is something to put in its place", async () => {
    expect(provenFiles(files)).toEqual(files);
    expect(read()).toEqual(["of before", "of before"]);
    expect(await told(files, { agent: "A", goesOnBy: null }, terminal, async () => 1)).toBe(1);
    expect(read()).toEqual(["of before", "of before"]);
  });

  it("hold the error, as one case and as a summary, and let it go on", async () => {
    expect(await failing({ agent: "agent-screening", goesOnBy: null })).toBe(error);
    const [junit, markdown] = read();
    const counts = `tests="1" failures="0" errors="1" skipped="0"`;
    expect(junit).toContain(`<testsuites ${counts}>\n  <testsuite name="agent-screening" ${counts}>`);
    expect(junit).toContain(`<error message="no &lt;answer&gt; &amp; &quot;nobody&quot; there"></error>`);
    expect(markdown).toMatch(
      /^## agent&#45;screening: no score\n\n\*\*no &#60;answer&#62; &#38; "nobody"\*\*\n\nthere\n$/,
    );
    expect(said).toEqual([]);
  });

  it("say how to go on with a screening that has begun", async () => {
    await failing({ agent: "A", goesOnBy: "agent-screening screen --session 7" });
    const [junit, markdown] = read();
    expect(junit).toMatch(/<error message="[^"]+">[^<]* by: agent-screening screen --session 7<\/error>/);
    expect(markdown).toMatch(/by: `agent-screening screen --session 7`\n$/);
    expect(said.join("")).toMatch(/by: agent-screening screen --session 7\n$/);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("say so where %s ends the waiting, which it still does", async (signal) => {
    const work = `import { told } from ${JSON.stringify(SOURCE)};
      const known = { agent: "A", goesOnBy: "agent-screening screen --session 7" };
      await told(${JSON.stringify(files)}, known, process, () => {
        process.stdout.write("waiting");
        return new Promise((done) => setTimeout(done, 60_000));
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", work]);
    child.stdout.once("data", () => child.kill(signal));
    const noted = textOf(child.stderr);
    expect(await once(child, "close")).toEqual([null, signal]);
    const goesOn = "by: agent-screening screen --session 7";
    expect(await noted).toContain(goesOn);
    const [junit, markdown] = read();
    expect(junit).toMatch(new RegExp(`<error message="${signal} ended [^"]+">[^<]* ${goesOn}</error>`));
    expect(markdown).toMatch(new RegExp(`no score\n\n\\*\\*${signal} ended`));
  });

  it.each([
    ["which says what it did", 'async () => "What was queued has gone."', "has gone.", false],
    ["which fails to", 'async () => { throw new Error("no answer"); }', "could not be cancelled: no answer", true],
  ])("say what came of what a signal does first, %s, though it comes twice", async (_what, stop, outcome, goesOn) => {
    const work = `import { told } from ${JSON.stringify(SOURCE)};
      const known = { agent: "A", goesOnBy: "agent-screening screen --session 7" };
      let over;
      const stop = async () => {
        process.stdout.write("stopping");
        await new Promise((done) => process.stdin.once("data", done));
        // What is waited for ends by this, too, which is no result.
        over();
        return (${stop})();
      };
      await told(${JSON.stringify(files)}, known, process, () => {
        process.stdout.write("waiting");
        const alive = setTimeout(() => undefined, 60_000);
        return new Promise((done) => (over = () => { clearTimeout(alive); done(); }));
      }, stop);
      process.stdout.write("went on");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", work]);
    child.stdout.on("data", (data: Buffer) => {
      child.kill(String(data) === "waiting" ? "SIGTERM" : "SIGINT");
      if (String(data) === "stopping") child.stdin.end("go on");
    });
    const [printed, noted] = [textOf(child.stdout), textOf(child.stderr)];
    expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
    expect([await printed, (await noted).includes("by: agent-screening")]).toEqual(["waitingstopping", goesOn]);
    // For whoever has no file, too.
    expect(await noted).toMatch(new RegExp(`^SIGTERM ended [^\n]*${outcome}\n`));
    expect(read()[0]).toContain(
      `<error message="SIGTERM ended the program before there was a result. What was queued ${outcome}"`,
    );
    expect(read()[1]?.includes("--session 7")).toBe(goesOn);
  });

  it("do not hide the error where they can't be written any more", async () => {
    const gone = { ...files, junit: join(folder, "gone/junit.xml") };
    expect(await failing({ agent: "A", goesOnBy: null }, gone)).toBe(error);
    expect([read()[1], said.join("")]).toEqual([expect.stringContaining("no score"), expect.stringMatching(/ENOENT/)]);
  });
});
