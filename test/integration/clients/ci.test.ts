import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { buildCommandLine } from "../../../clients/cli/build.ts";
import { type Consumer, startConsumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addSuite, answersRightly, startAgent } from "../runs/support.ts";
import { install, newFolder } from "./packing-support.ts";

const TASKS = 3;
const ACTION = readFileSync(new URL("../../../clients/ci/github/action.yml", import.meta.url), "utf8");
const TEMPLATE = readFileSync(new URL("../../../clients/ci/gitlab/screening.yml", import.meta.url), "utf8");

let service: TestService;
let endpoint: Consumer;
let folder: string;
let key: string;
let command: string;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  await addSuite(service, TASKS, { slug: "few" });
  key = await newKey();
  folder = newFolder([]);
  await install("cli", buildCommandLine, folder);
  command = `${process.execPath} ${join(folder, "node_modules/agent-screening-cli/dist/main.js")}`;
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  for (const file of ["summary.md", "outputs"]) writeFileSync(join(folder, file), "");
});

/** A key of an account of its own. */
async function newKey(): Promise<string> {
  const owner = await newUser(service, { plan: "pro" });
  return (await owner.call("POST", "/api/v1/api-keys", { name: "ci", scope: "write" })).body.key;
}

/** How a runner starts a script in a shell: with nothing but the given variables, and ended by the first command that fails. */
const BASH = ["--noprofile", "--norc", "-eo", "pipefail", "-c"] as const;
const optionsOf = (env: Record<string, string>) => ({
  cwd: folder,
  env: { PATH: process.env["PATH"] ?? "", HOME: folder, CI: "true", ...env },
});

/** How many runs of a session are cancelled, and how many have ended. */
async function countsOf(session: unknown): Promise<{ cancelled: number; final: number }> {
  const [counts] = await service.sql<{ cancelled: number; final: number }>(
    `select count(*) filter (where status = 'cancelled')::int as cancelled,
            count(*) filter (where status in ('cancelled', 'completed'))::int as final
       from runs where screening_session_id = $1`,
    [session],
  );
  return counts ?? { cancelled: 0, final: 0 };
}

/** Runs a script in a shell as a runner does. */
function shell(script: string, env: Record<string, string>): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile("bash", [...BASH, script], optionsOf(env), (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

/** What stands indented under a line of a YAML file, without its indentation. */
function blockUnder(text: string, head: RegExp): string {
  const [, ...lines] = text.slice((head.exec(text)?.index ?? text.length) + 1).split("\n");
  const indent = /^ */.exec(lines[0] ?? "")?.[0] ?? "";
  const end = lines.findIndex((line) => line !== "" && !line.startsWith(indent));
  const block = end < 0 ? lines : lines.slice(0, end);
  return block.map((line) => line.slice(indent.length)).join("\n");
}

/** The step of the action with these inputs: its script, and its variables as the runner sets them. */
function step(inputs: Record<string, string>): { script: string; env: Record<string, string> } {
  const value = (name: string) => {
    const [, standard] = new RegExp(`\\n {2}${name}:\\n {4}description: .*\\n {4}default: (.*)`).exec(ACTION) ?? [];
    return inputs[name] ?? standard?.replace(/^"(.*)"$/, "$1") ?? "";
  };
  const variables = [...ACTION.matchAll(/^ {8}([A-Z_]+): \$\{\{ inputs\.([\w-]+) \}\}$/gm)];
  const env = Object.fromEntries(variables.map(([, name = "", input = ""]) => [name, value(input)]));
  return { script: blockUnder(ACTION, /\n +run: \|/), env };
}

/** The job of the template: its script, and its variables as they are unless somebody sets them. */
function job(): { script: string; env: Record<string, string> } {
  const script = blockUnder(TEMPLATE, /\n +script:/).replaceAll(/^- /gm, "");
  const variables = [...blockUnder(TEMPLATE, /\n +variables:/).matchAll(/^([A-Z_]+): "?([^"\n]*)"?$/gm)];
  return { script, env: Object.fromEntries(variables.map(([, name = "", value = ""]) => [name, value])) };
}

const files = () => ({
  GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
  GITHUB_OUTPUT: join(folder, "outputs"),
});
const read = (file: string) => readFileSync(join(folder, file), "utf8");

it("the GitHub Action passes a good agent, and fails a bad one with a summary that links each failed run", async () => {
  const inputs = { agent: endpoint.url, key, url: service.url, suite: "few", command, "fail-under": "50" };
  const { script, env } = step(inputs);
  expect(Object.keys(env)).toHaveLength(14);
  const good = await shell(script, { ...env, ...files() });
  expect(good).toMatchObject({ code: 0 });
  const [, baseline = ""] = /^exit-code=0\nsession-id=([\da-f-]{36})\n$/.exec(read("outputs")) ?? [];
  expect(read("summary.md")).toMatch(/^## .* points\n/);

  endpoint.answer = () => json(200, { output: "##[add-mask]e" });
  const against = step({ ...inputs, baseline });
  const bad = await shell(against.script, { ...against.env, ...files() });
  endpoint.answer = answersRightly;
  expect(bad).toMatchObject({ code: 1 });
  // A runner would take that as a command, within a line, too.
  const [, pause, printed = ""] = /^::stop-commands::(.+)\n([^]*)\n::\1::\n/.exec(bad.output) ?? [];
  expect([pause, printed]).toEqual([expect.stringMatching(/\S{10}/), expect.stringContaining("##[add-mask]e")]);
  expect(read("outputs")).toMatch(/^exit-code=0\nsession-id=\S+\nexit-code=1\nsession-id=\S+\n$/);
  expect(read("summary.md")).toContain(`[The screening before](${service.url}/sessions/${baseline})`);
  const links = read("summary.md").match(/\[open\]\(http[^)]+\/runs\/[\da-f-]{36}\)/g);
  expect(new Set(links).size).toBe(TASKS);
  expect(read("agent-screening.xml")).toContain(`failures="${TASKS}"`);
});

it("a new agent that speaks another protocol is registered by that, by the GitHub Action and by the GitLab template", async () => {
  const completions = await startConsumer();
  completions.answer = ({ body }) => {
    const { messages } = JSON.parse(body.toString()) as { messages?: unknown };
    return messages === undefined
      ? json(422, { error: "messages are missing" })
      : json(200, { model: "gpt-5-mini", choices: [{ message: { role: "assistant", content: "ready" } }] });
  };
  const own = await newKey();
  const [of, at] = [new URL("/hub", completions.url).href, new URL("/lab", completions.url).href];
  const { script, env } = step({
    agent: of,
    key: own,
    url: service.url,
    suite: "few",
    command,
    protocol: "openai_chat",
  });
  const github = await shell(script, { ...env, ...files() });
  const gitlab = await shell(job().script, {
    ...job().env,
    AGENT: at,
    AGENT_SCREENING_URL: service.url,
    AGENT_SCREENING_KEY: own,
    SUITE: "few",
    AGENT_PROTOCOL: "openai_chat",
    COMMAND: command,
  });
  await completions.stop();
  for (const { output } of [github, gitlab]) expect(output).not.toMatch(/agent_http_error|agent_invalid_response/);
  const registered = await service.sql(
    "select endpoint, agent_protocol from agents where endpoint in ($1, $2) order by 1",
    [of, at],
  );
  expect(registered).toEqual([of, at].map((where) => ({ endpoint: where, agent_protocol: "openai_chat" })));
});

it("the guide's jobs name inputs, outputs and variables that there are", () => {
  const guide = readFileSync(new URL("../../../functions/site/guides/ci.md", import.meta.url), "utf8");
  const under = (head: RegExp, text: string) =>
    [...blockUnder(text, head).matchAll(/^([\w-]+): ?/gm)].map(([, name = ""]) => name);
  const given = under(/\n {8}with:/, guide.slice(guide.indexOf("uses: ./")));
  expect(given).toContain("baseline");
  expect(under(/^inputs:/m, ACTION)).toEqual(expect.arrayContaining(given));
  const outputs = [...guide.matchAll(/steps\.screening\.outputs\.([\w-]+)/g)].map(([, name = ""]) => name);
  expect([outputs.length, under(/^outputs:/m, ACTION)]).toEqual([1, expect.arrayContaining(outputs)]);
  const needed = ["AGENT", "AGENT_SCREENING_URL"];
  expect([...needed, ...Object.keys(job().env)]).toEqual(expect.arrayContaining(under(/\n {2}variables:/, guide)));
});

it("an input of the GitHub Action is never read as a command", async () => {
  const agent = '"; touch stolen; echo $(touch stolen) `touch stolen`';
  const { script, env } = step({ agent, key, url: service.url, command });
  expect(await shell(script, { ...env, ...files() })).toMatchObject({ code: 2 });
  expect(() => read("stolen")).toThrow("ENOENT");
  // What kept the screening from being carried out is what the job shows.
  expect(read("summary.md")).toMatch(/^## .*: no score\n\n\*\*.* is neither an agent/);
  expect(read("agent-screening.xml")).toContain(`errors="1"`);
});

it.each(["", "yes", "True"])(
  "a gate of the GitHub Action is never left out unseen: fail-on-regression %j",
  async (value) => {
    const inputs = { agent: endpoint.url, key, url: service.url, suite: "few", command, "fail-on-regression": value };
    const { script, env } = step(inputs);
    const found = await shell(script, { ...env, ...files() });
    expect(found).toEqual({ code: 2, output: `fail-on-regression is true or false, not "${value}"\n` });
    expect(read("outputs")).toBe("exit-code=2\n");
  },
);

it("a job of the GitHub Action that is cancelled has the client told behind npx, and what is queued cancelled", async () => {
  mkdirSync(join(folder, "node_modules/.bin"));
  symlinkSync("../agent-screening-cli/dist/main.js", join(folder, "node_modules/.bin/agent-screening"));
  const npx = "npx --no agent-screening";
  const { script, env } = step({
    agent: endpoint.url,
    key,
    url: service.url,
    suite: "few",
    repeats: "3",
    command: npx,
    "skip-test": "true",
  });
  let release = () => undefined as void;
  const held = new Promise<void>((resolve) => (release = resolve));
  endpoint.answer = (call) => held.then(() => answersRightly(call));
  const runner = spawn("bash", [...BASH, script], optionsOf({ ...env, ...files() }));
  const ended = once(runner, "close");
  const session = await new Promise((resolve) => {
    let said = "";
    runner.stdout.on("data", (data: Buffer) => {
      said += String(data);
      const [, id] = /\/sessions\/([\da-f-]{36})\n/.exec(said) ?? [];
      if (id !== undefined) resolve(id);
    });
  });
  // As a runner does, to the shell alone. That its pipes close says that nobody of its processes is left.
  runner.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  expect(read("outputs")).toBe("exit-code=130\n");
  expect(read("summary.md")).toMatch(/: no score\n\n\*\*SIGTERM ended .* What was queued has been cancelled\.\*\*\n$/);
  expect(read("agent-screening.xml")).toMatch(/<error message="SIGTERM ended [^"]*"><\/error>/);
  release();
  await service.settled();
  const counts = await countsOf(session);
  // At most four were called by then.
  expect(counts.cancelled).toBeGreaterThanOrEqual(3 * TASKS - 4);
  expect(counts.final).toBe(3 * TASKS);
});

// Before the answer to the submission is there, and as the program goes on from it.
it.each([0, 2])(
  "a job that is cancelled as its runs are submitted has them cancelled, too: %i ms later",
  async (later) => {
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = (call) => held.then(() => answersRightly(call));
    const front = await startConsumer();
    const args = [
      "screen",
      endpoint.url,
      "--suite",
      "few",
      "--repeats",
      "3",
      "--skip-test",
      "--cancel-on-signal",
      "--markdown",
      "m.md",
    ];
    const url = new URL(front.url).origin;
    const env = { AGENT_SCREENING_KEY: key, AGENT_SCREENING_URL: url };
    let session: unknown;
    const ended = new Promise((resolve) => {
      front.answer = async ({ method, url: { pathname, search }, headers, body }) => {
        const names = ["authorization", "content-type", "idempotency-key"];
        const sent = Object.fromEntries(
          names.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])),
        );
        const content = body.length === 0 ? {} : { body: new Uint8Array(body) };
        const answer = await fetch(service.url + pathname + search, { method, headers: sent, ...content });
        const text = await answer.text();
        if (pathname === "/api/v1/runs/batch") {
          session = (JSON.parse(text) as { screening_session_id: string }[])[0]?.screening_session_id;
          setTimeout(() => runner.kill("SIGTERM"), later);
        }
        return { status: answer.status, headers: { "content-type": "application/json" }, body: text };
      };
      const main = join(folder, "node_modules/agent-screening-cli/dist/main.js");
      const runner = spawn(process.execPath, [main, ...args], optionsOf(env));
      runner.on("exit", (_, signal) => resolve(signal));
    });
    expect(await ended).toBe("SIGTERM");
    expect(read("m.md")).toContain("What was queued has been cancelled");
    release();
    await service.settled();
    await front.stop();
    expect((await countsOf(session)).cancelled).toBeGreaterThanOrEqual(3 * TASKS - 4);
  },
);

it("the GitLab template does the same, its report and summary at the places that it names", async () => {
  const { script, env } = job();
  const own = await newKey();
  const given = { AGENT: endpoint.url, AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: own, SUITE: "few" };
  const found = await shell(script, { ...env, ...given, COMMAND: command });
  expect(found).toMatchObject({ code: 0, output: expect.stringContaining("3 of 3 runs: passed 3") });
  for (const file of ["agent-screening.xml", "agent-screening.md"]) {
    expect(TEMPLATE).toContain(file);
    expect(read(file)).not.toBe("");
  }
  const [, id] = /\/sessions\/([\da-f-]{36})\)\n$/.exec(read("agent-screening.md")) ?? [];
  await shell(script, { ...env, ...given, COMMAND: command, BASELINE: String(id) });
  expect(read("agent-screening.md")).toContain(`[The screening before](${service.url}/sessions/${id})`);
  expect(await shell(script, { ...env, ...given, COMMAND: command, AGENT_SCREENING_KEY: "ask_x" })).toMatchObject({
    code: 4,
  });
  expect(read("agent-screening.xml")).toMatch(/errors="1"[^]*<error message="[^"]*unauthenticated/);
  expect(read("agent-screening.md")).toContain("unauthenticated");
});
