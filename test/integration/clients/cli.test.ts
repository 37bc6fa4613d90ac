import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import type { User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { leastTime } from "../../stack/least-time.ts";
import type { TestService } from "../../stack/service.ts";
import { answersRightly } from "../runs/support.ts";
import { addEntries } from "../transparency/support.ts";
import { atTerminal, mainIn, NOBODY, type Packed, startFront, startPacked, TASKS } from "./cli-support.ts";
import { nodes } from "./packing-support.ts";

let packed: Packed;
let service: TestService;
let endpoint: Consumer;
let user: User;
let folder: string;
let key: string;
let cli: Packed["cli"];

beforeAll(async () => {
  packed = await startPacked();
  ({ service, endpoint, user, folder, key, cli } = packed);
});

afterAll(() => packed.stop());

const answersWrongly = () => json(200, { output: "41", usage: { calls: [{ model: "m", cost_usd: 0.001 }] } });
const screening = ["--suite", "dozen", "--repeats", "2"];

describe("screening from the packed command line", () => {
  it("registers the agent once, waits for its score, and the score is that of the board", async () => {
    endpoint.answer = answersRightly;
    const gates = ["--fail-under", "70", "--fail-on-regression"];
    const first = await cli(["screen", endpoint.url, ...screening, "--json", ...gates]);
    expect(first).toMatchObject({ code: 0 });
    const found = JSON.parse(first.stdout);
    expect(found).toMatchObject({
      runs: 2 * TASKS,
      tasks: TASKS,
      success_rate: 1,
      failed: [],
      regression: null,
      verdict: [],
    });
    await service.settled();
    const { body } = await user.call("GET", `/api/v1/agents/${found.agent_id}`);
    expect(body.composite_score).toBe(found.composite_score);
    // In CI each tenth of the way is a line: nothing is drawn over.
    expect(first.stderr).toMatch(/24 of 24 runs: passed 24, without an answer 0\n$/);
    expect(first.stderr).not.toContain("\r");
  });

  it("ends with 1 under the threshold and at a regression, and says why in every form of a report", async () => {
    endpoint.answer = answersWrongly;
    const files = ["--junit", join(folder, "junit.xml"), "--markdown", join(folder, "summary.md")];
    const second = await cli([
      "screen",
      endpoint.url,
      ...screening,
      "--fail-under",
      "70",
      "--fail-on-regression",
      ...files,
    ]);
    expect(second.code).toBe(1);
    expect(second.stdout).toMatch(/The score \d+\.\d\d is under 70/);
    expect(second.stdout).toMatch(/The pass rate fell from 100\.0% to 0\.0%/);
    const agents = await user.call("GET", "/api/v1/agents");
    expect(agents.body.total).toBe(1);

    const junit = readFileSync(join(folder, "junit.xml"), "utf8");
    expect(junit).toContain(`<testsuites tests="${2 * TASKS}" failures="${2 * TASKS}"`);
    expect(junit.match(/<failure message="[^"]+">http[^<]+\/runs\/[\da-f-]{36}<\/failure>/g)).toHaveLength(2 * TASKS);
    expect(junit).toContain("&lt;b&gt;&amp;&quot;| [31m (1 of 2)");
    const markdown = readFileSync(join(folder, "summary.md"), "utf8");
    expect(markdown.match(/\| \[open\]\(http.*\/runs\/[\da-f-]{36}\) \|/g)).toHaveLength(2 * TASKS);
    expect(markdown).toContain("The pass rate fell");
    expect(markdown).not.toContain("<b>");
    expect(second.stdout).not.toContain("\u001b");
  });

  it("starts without waiting unless it is told to, and lists the runs", async () => {
    endpoint.answer = answersRightly;
    const started = await cli(["screen", endpoint.url, "--suite", "dozen", "--private"]);
    expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\da-f-]{36}\n$/) });
    await service.settled();
    const runs = await cli(["runs", "--limit", "3", "--json"]);
    expect(JSON.parse(runs.stdout).map((one: { screening_session_id: string }) => one.screening_session_id)).toEqual(
      Array.from({ length: 3 }, () => started.stdout.trim()),
    );
  });

  it("waits for a screening that has begun, and begins none", async () => {
    endpoint.answer = answersRightly;
    const started = await cli(["screen", endpoint.url, "--suite", "dozen"]);
    const session_id = started.stdout.trim();
    const count = () => service.sql<{ n: number }>("select count(*)::int as n from screening_sessions");
    const before = await count();
    const waited = await cli(["screen", "--session", session_id, "--json"]);
    expect([waited.code, JSON.parse(waited.stdout)]).toEqual([
      0,
      expect.objectContaining({ session_id, runs: TASKS, success_rate: 1 }),
    ]);
    expect(await count()).toEqual(before);
    const both = await cli(["screen", endpoint.url, "--session", session_id]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("no screening begins") });
  });

  it("draws a bar as wide as a terminal, and clears it away", async () => {
    const env = { AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: key };
    const seen = await atTerminal(folder, ["screen", endpoint.url, "--suite", "dozen", "--wait"], env);
    const bars = seen.split("\r\u001b[K").slice(1, -1);
    expect(bars.length).toBeGreaterThan(0);
    expect(bars.every((bar) => bar.length <= 59 && /^[█░]/.test(bar))).toBe(true);
    expect(bars.at(-1)).toContain("12/12");
  });
});

describe("the exit code", () => {
  it.each([
    ["an unknown option", ["screen", "x", "--fail"], {}, 2, "Unknown option '--fail'"],
    ["no agent", ["screen"], {}, 2, "Give one agent"],
    ["an agent by a variable that nobody set", ["screen", ""], {}, 2, '"" is neither an agent'],
    ["an unknown suite", ["screen", "http://127.0.0.1:9/", "--suite", "none"], {}, 2, "There is no suite none"],
    ["a threshold that is none", ["screen", "x", "--fail-under", "high"], {}, 2, "from 0 to 100"],
    ["an unknown command", ["scren"], {}, 2, "There is no command"],
    ["a refused request", ["runs", "--agent", "x"], {}, 2, "validation_failed"],
    ["a service that does not answer", ["board"], { AGENT_SCREENING_URL: NOBODY }, 3, `${NOBODY} does not answer`],
    ["what runs don't take", ["runs", "x"], {}, 2, "Usage: agent-screening runs"],
    ["what the board does not take", ["board", "coding"], {}, 2, "Usage: agent-screening board"],
    ["a key in the wrong place", ["login", "ask_x"], {}, 2, "Usage: agent-screening login"],
    ["a folder in the wrong place", ["dev", "."], {}, 2, "Usage: agent-screening dev"],
    ["two agents", ["screen", "x", "y"], {}, 2, "Usage: agent-screening screen"],
    ["no key", ["runs"], { AGENT_SCREENING_KEY: "" }, 4, "agent-screening login"],
    ["a key of two lines", ["runs"], { AGENT_SCREENING_KEY: "ask_secret\nx" }, 2, "the one line that begins with ask_"],
    ["a wrong key", ["runs"], { AGENT_SCREENING_KEY: "ask_wrong" }, 4, "unauthenticated"],
  ])("of %s says so, and what to do", async (_what, args, env, code, text) => {
    const found = await cli(args, env);
    expect(found).toMatchObject({ code, stdout: "" });
    expect(found.stderr).toContain(text);
    expect(found.stderr).not.toContain("ask_secret");
  });

  it("is 4 for a key that may only read, and 3 for a service whose database is down", async () => {
    const narrow = (await user.call("POST", "/api/v1/api-keys", { name: "narrow", scope: "read" })).body.key;
    const refused = await cli(["test", endpoint.url], { AGENT_SCREENING_KEY: narrow });
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("lacks the scope agents:write") });
    service.faults.set({ service: "db", mode: "down" });
    try {
      expect(await cli(["login", "--new"])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("dependency_unavailable"),
      });
    } finally {
      service.faults.set({ service: "db", mode: "none" });
    }
  });

  it("is 0 where the reader of the result has gone", async () => {
    const env = { ...process.env, AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: key, XDG_CONFIG_HOME: folder };
    const child = spawn(process.execPath, [mainIn(folder), "runs"], { env });
    child.stdout.destroy();
    const said = textOf(child.stderr);
    expect([await once(child, "close"), await said]).toEqual([[0, null], ""]);
  });

  it("is 3 for an error that nobody caught", async () => {
    const odd = `data:text/javascript,${encodeURIComponent('setImmediate(() => { throw new Error("odd"); })')}`;
    const { code, stderr } = await cli(["runs"], { NODE_OPTIONS: `--import=${odd}` });
    expect([code, stderr]).toEqual([3, "odd\n"]);
  });

  it("is 1 for an endpoint that fails its test, 0 for one that answers", async () => {
    endpoint.answer = () => json(500, {});
    expect(await cli(["test", endpoint.url])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("agent_http_error"),
    });
    endpoint.answer = answersRightly;
    expect(await cli(["test", endpoint.url])).toMatchObject({ code: 0, stdout: expect.stringContaining("ok") });
  });
});

describe("signing in", () => {
  it("keeps the key for its owner alone, and takes it from then on", async () => {
    expect(await cli(["login", "--key", key])).toMatchObject({ code: 0, stdout: expect.stringContaining(user.email) });
    expect(statSync(join(folder, "agent-screening/config.json")).mode & 0o777).toBe(0o600);
    expect(await cli(["runs"], { AGENT_SCREENING_KEY: "", AGENT_SCREENING_URL: "" })).toMatchObject({ code: 0 });
  });

  it("gets a key that is allowed on the page, and none that is refused; at a terminal it opens the page", async () => {
    const opened = join(folder, "opened.txt");
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf %s "$1" >> ${opened}\n`, { mode: 0o755 });
    const env = { AGENT_SCREENING_KEY: "", DISPLAY: ":0", PATH: `${folder}:${process.env["PATH"]}` };
    /** Decides on the code once it is shown. */
    const decides = (allow: boolean) => (text: string) => {
      const user_code = /user_code=(\S+)/.exec(text)?.[1];
      if (user_code !== undefined) void user.call("POST", "/api/v1/auth/device/decision", { user_code, allow });
    };
    const seen = atTerminal(folder, ["login"], { ...env, AGENT_SCREENING_URL: service.url }, decides(true));
    const refused = await cli(["login"], env, process.execPath, decides(false));
    expect(refused).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("refused on the page") });
    expect(await seen).toContain(`as ${user.email} (team)`);
    expect(await seen).toContain(`Open ${readFileSync(opened, "utf8")}\r\n`);
    await service.settled();
    const { items } = (await user.call("GET", "/api/v1/api-keys")).body;
    expect(items[0]).toMatchObject({ name: hostname(), scope: "write", last_used_at: expect.any(String) });
    expect(await cli(["runs"], { AGENT_SCREENING_KEY: "", AGENT_SCREENING_URL: "" })).toMatchObject({ code: 0 });
  });

  it("makes no key that can't be kept", async () => {
    writeFileSync(join(folder, "file"), "");
    const users = () => service.sql("select id from users");
    const before = await users();
    const refused = await cli(["login", "--new"], { XDG_CONFIG_HOME: join(folder, "file") });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("XDG_CONFIG_HOME") });
    expect(await users()).toEqual(before);
  });

  it("takes a workspace's key, which speaks for nobody", async () => {
    const { body: team } = await user.call("POST", "/api/v1/teams", { name: "Nightly" });
    const { body } = await user.call("POST", `/api/v1/teams/${team.id}/api-keys`, { name: "CI", scope: "read" });
    const signedIn = await cli(["login", "--key", body.key], { AGENT_SCREENING_KEY: "" });
    expect(signedIn).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("by a workspace's key; the key is kept"),
    });
    expect(await cli(["runs"], { AGENT_SCREENING_KEY: "", AGENT_SCREENING_URL: "" })).toMatchObject({ code: 0 });
  });

  it("opens an account on the service of this machine, with the plan that a screening needs", async () => {
    const { code, stdout } = await cli(["login", "--new", "--json"], { AGENT_SCREENING_KEY: "" });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { url: service.url, email: expect.stringMatching(/^dev-/), plan: "pro" },
    ]);
    expect(await cli(["login", "--new", "--url", "https://service.example"])).toMatchObject({ code: 2 });
  });
});

describe("verifying", () => {
  it("holds a statement to the service's keys, offline too, and finds one changed byte", async () => {
    const [passed] = await service.sql<{ id: string }>("select id from runs where passed and counted limit 1");
    const { body } = await user.call("GET", `/api/v1/runs/${passed?.id}/evidence`);
    const keys = await user.call("GET", "/.well-known/jwks.json");
    writeFileSync(join(folder, "good.jws"), body.jws);
    writeFileSync(join(folder, "keys.json"), keys.text);
    const [header, payload = "", signature] = body.jws.split(".");
    const changed = Buffer.from(Buffer.from(payload, "base64url").toString().replace('"passed":true', '"passed":null'));
    writeFileSync(join(folder, "bad.jws"), [header, changed.toString("base64url"), signature].join("."));
    const offline = ["--jwks", join(folder, "keys.json")];
    expect(await cli(["verify", join(folder, "good.jws")])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("It holds."),
    });
    expect(await cli(["verify", join(folder, "good.jws"), ...offline], { AGENT_SCREENING_URL: NOBODY })).toMatchObject({
      code: 0,
    });
    expect(await cli(["verify", join(folder, "bad.jws"), ...offline])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("It does not hold."),
    });
    expect(await cli(["verify", join(folder, "missing.jws")])).toMatchObject({ code: 2 });
    for (const option of ["--jwks", "--log-key"]) {
      const found = await cli(["verify", "good.jws", option, "good.jws"]);
      expect(found).toMatchObject({ code: 2, stderr: expect.stringContaining("good.jws holds no key") });
    }
    // A key that is refused is no answer to whether the service shows the agent's.
    const revoked = { AGENT_SCREENING_KEY: "ask_revoked" };
    expect(await cli(["verify", join(folder, "good.jws"), "--regrade"], revoked)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("unauthenticated"),
    });
    expect(await cli(["verify", join(folder, "good.jws"), "--regrade"])).toMatchObject({ code: 2 });
  });

  it("tells a service that does not give its log from a statement that does not hold", async () => {
    await service.app.scheduled("* * * * *");
    const front = await startFront(service, (path) => (path === "/log/checkpoint" ? { status: 503 } : null));
    const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
    try {
      const found = await cli(["verify", join(folder, "good.jws")], there);
      expect(found).toMatchObject({ code: 3, stdout: expect.stringContaining("/log/checkpoint answers 503") });
      expect(found.stdout).toContain("could not be looked at to the end");
      expect(found.stdout).not.toContain("does not hold");
      expect(await cli(["verify", join(folder, "bad.jws")], there)).toMatchObject({ code: 1 });
    } finally {
      await front.stop();
    }
  });

  it.each([
    ["the log's key", "/log/key", 503, 3],
    ["no key of a log", "/log/key", 404, 0],
    ["the proof", "?format=tlog-proof", 500, 3],
    ["no proof yet", "?format=tlog-proof", 404, 0],
  ])("leaves the log open where the service gives %s (%s) with %i: exit code %i", async (_what, end, status, code) => {
    const front = await startFront(service, (path) => (path.endsWith(end) ? { status } : null));
    try {
      const found = await cli(["verify", join(folder, "good.jws")], { AGENT_SCREENING_URL: new URL(front.url).origin });
      expect(found).toMatchObject({ code, stdout: expect.stringContaining("Not looked at") });
      expect(found.stdout.includes("could not be looked at to the end")).toBe(code === 3);
    } finally {
      await front.stop();
    }
  });

  it("takes the state of the log that a cache still has for the same log, and no log without its entries", async () => {
    const kept = await (await fetch(`${service.url}/log/checkpoint`)).text();
    await addEntries(service, 300);
    await service.app.scheduled("* * * * *");
    let shrunk = false;
    const front = await startFront(service, (path) => {
      if (path === "/log/checkpoint") return { status: 200, body: Buffer.from(kept) };
      return shrunk && path.startsWith("/log/tile/") ? { status: 404 } : null;
    });
    const verify = () => cli(["verify", join(folder, "good.jws")], { AGENT_SCREENING_URL: new URL(front.url).origin });
    try {
      expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining("It holds.") });
      shrunk = true;
      expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining("The log has shrunk") });
    } finally {
      await front.stop();
    }
  });

  it("follows the log", async () => {
    await service.app.scheduled("* * * * *");
    const found = await cli(["log", "monitor"]);
    expect(found).toMatchObject({ code: 0, stderr: expect.stringContaining("consistent") });
    expect(found.stdout).toMatch(/^0\t\{"kind":/);
    const state = JSON.parse(readFileSync(join(folder, "log-monitor.json"), "utf8"));
    writeFileSync(join(folder, "log-monitor.json"), JSON.stringify({ ...state, size: state.size + 5 }));
    expect(await cli(["log", "monitor"])).toMatchObject({ code: 1, stderr: expect.stringContaining("shrank") });
  });
});

describe("on each Node there is", () => {
  it("shows the board and compares agents", async () => {
    const other = (await user.call("POST", "/api/v1/agents", { name: "Another", endpoint: endpoint.url })).body.id;
    const own = (await user.call("GET", "/api/v1/agents")).body.items.map(({ id }: { id: string }) => id);
    expect(own).toContain(other);
    for (const [version, node] of await nodes()) {
      expect([version, await cli(["board", "--json"], {}, node)]).toMatchObject([version, { code: 0 }]);
      expect([version, await cli(["compare", ...own], {}, node)]).toMatchObject([version, { code: 0 }]);
      expect([version, await cli(["verify", join(folder, "good.jws")], {}, node)]).toMatchObject([
        version,
        { code: 0 },
      ]);
    }
  });

  it("compares two screenings, and names the tasks that they differ in", async () => {
    const screened = async (answer: typeof endpoint.answer) => {
      endpoint.answer = answer;
      const { stdout } = await cli(["screen", endpoint.url, "--suite", "dozen", "--skip-test"]);
      return service.settled().then(() => stdout.trim());
    };
    let asked = 0;
    const some: typeof endpoint.answer = (call) => (asked++ < 4 ? answersWrongly() : answersRightly(call));
    const both = [await screened(answersRightly), await screened(some)];
    const { code, stdout } = await cli(["compare", "--sessions", ...both]);
    expect([code, stdout.match(/1 of 1 +0 of 1$/gm)?.length], stdout).toEqual([0, 4]);
    expect(stdout).toMatch(/^first +100.0% .*\/sessions\//m);
    expect(stdout).toContain("+33.3 points over 12 tasks");
    expect(await cli(["compare", "--sessions", both[0] ?? ""])).toMatchObject({ code: 2 });
  });

  it("starts as fast as Node itself, to within 150 ms or as much again", async () => {
    const started = (args: string[]) => () => execFileSync(process.execPath, args);
    const bare = await leastTime(0, started(["-e", "0"]));
    const enough = Math.max(150, 2 * bare);
    expect(await leastTime(enough, started([mainIn(folder), "--help"]))).toBeLessThan(enough);
  });
});

it("every command explains its options", async () => {
  const { stdout } = await cli(["--help"]);
  const names = [...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name);
  expect(names).toContain("screen");
  for (const name of names) {
    const found = await cli([name, "--help"]);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining(`Usage: agent-screening ${name}`) });
  }
  const login = await cli(["login", "--help"]);
  expect(login.stdout).toContain("- reads it from standard input");
  expect(login.stdout).not.toContain("AGENT_SCREENING_KEY");
});
