import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json } from "../../stack/http.ts";
import { answersRightly } from "../runs/support.ts";
import { mainIn, type Packed, startFront, startPacked, TASKS } from "./cli-support.ts";

let packed: Packed;

beforeAll(async () => {
  packed = await startPacked();
});

beforeEach(() => {
  packed.endpoint.answer = answersRightly;
  packed.endpoint.seen.splice(0);
});

afterAll(() => packed.stop());

/** Of which agent, if it is not the usual one, with what else. */
const screened = (agent: string, ...more: string[]) => packed.cli(["screen", agent, "--suite", "dozen", ...more]);
const at = (path: string) => new URL(path, packed.endpoint.url).href;

/** How many agents, sessions and runs there are. */
async function counted(): Promise<unknown> {
  const [counts] = await packed.service.sql(
    `select (select count(*) from agents)::int as agents, (select count(*) from screening_sessions)::int as sessions,
            (select count(*) from runs)::int as runs`,
  );
  return counts;
}

it("an agent that is new is called once before its runs, and where it fails neither registered nor screened", async () => {
  const junit = join(packed.folder, "junit.xml");
  const before = await counted();
  packed.endpoint.answer = () => json(404, {});
  const refused = await screened(at("/new"), "--wait", "--junit", junit);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/\/new fails a test: agent_http_error\n.*HTTP status 404.*\n.*--skip-test/);
  expect(readFileSync(junit, "utf8")).toContain('errors="1"');
  expect(await counted()).toEqual(before);

  packed.endpoint.answer = answersRightly;
  packed.endpoint.seen.splice(0);
  expect(await screened(at("/new"), "--wait")).toMatchObject({ code: 0 });
  expect(packed.endpoint.seen).toHaveLength(TASKS + 1);
});

it.each([
  ["is not there", () => json(404, {}), "agent_http_error"],
  ["answers in a wrong form", () => ({ status: 200, body: "Hello" }), "agent_invalid_response"],
  ["redirects", () => ({ status: 302, headers: { location: "/" }, body: "" }), "agent_redirected"],
])("of an agent that %s no run is spent, and no baseline comes about", async (_what, answer, code) => {
  const known = (await packed.user.call("POST", "/api/v1/agents", { name: code, endpoint: at(`/${code}`) })).body.id;
  const before = await counted();
  packed.endpoint.answer = answer;
  const refused = await screened(known, "--fail-under", "1");
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`fails a test: ${code}\n`) });
  expect(await counted()).toEqual(before);
  const anyway = await screened(known, "--wait", "--skip-test", "--json");
  expect(JSON.parse(anyway.stdout)).toMatchObject({ runs: TASKS, success_rate: 0 });
});

it("one call that fails stops nothing, nor does an agent that says it failed, or calls back later", async () => {
  let calls = 0;
  packed.endpoint.answer = (call) => (calls++ === 0 ? json(500, {}) : answersRightly(call));
  const passing = { code: 0, stderr: expect.not.stringContaining("fails a test") };
  expect(await screened(at("/flaky"), "--wait")).toMatchObject(passing);
  packed.endpoint.answer = () => json(202, {});
  const later = await screened(at("/later"));
  expect(later).toMatchObject(passing);
  await packed.user.call("POST", `/api/v1/screening-sessions/${later.stdout.trim()}/cancel`);
  packed.endpoint.answer = ({ body }) => {
    const { id } = JSON.parse(body.toString()) as { id: string };
    return json(200, { jsonrpc: "2.0", id, error: { code: -32603, message: "no task of mine" } });
  };
  const failing = await screened(at("/choosy"), "--protocol", "a2a");
  expect(failing).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/agent_reported_failure\n.*\nIt is screened all/),
  });
});

it("a job that is cancelled while its agent is called says that nothing had been queued", async () => {
  await packed.service.settled();
  const before = await counted();
  let called = () => undefined as void;
  const calling = new Promise<void>((resolve) => (called = resolve));
  let release = () => undefined as void;
  const held = new Promise<void>((resolve) => (release = resolve));
  packed.endpoint.answer = (call) => {
    called();
    return held.then(() => answersRightly(call));
  };
  const env = { ...process.env, AGENT_SCREENING_URL: packed.service.url, AGENT_SCREENING_KEY: packed.key };
  const args = [mainIn(packed.folder), "screen", at("/held"), "--suite", "dozen", "--cancel-on-signal"];
  const child = spawn(process.execPath, args, { env: { ...env, XDG_CONFIG_HOME: packed.folder } });
  const said = textOf(child.stderr);
  await calling;
  child.kill("SIGTERM");
  expect([await once(child, "close"), await said]).toEqual([
    [null, "SIGTERM"],
    "SIGTERM ended the program before there was a result. Nothing had been queued.\n",
  ]);
  release();
  expect(await counted()).toEqual(before);
});

it("an endpoint that the service does not call is refused once", async () => {
  const refused = await screened("http://agent.example/");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/^endpoint_not_allowed: /) });
});

it("a known agent is called with the header that the service keeps", async () => {
  packed.endpoint.answer = (call) =>
    call.headers["x-gate"] === "open" ? answersRightly(call) : { status: 401, body: "no" };
  const body = { name: "gated", endpoint: at("/gated"), auth_header: { name: "X-Gate", value: "open" } };
  const known = (await packed.user.call("POST", "/api/v1/agents", body)).body.id;
  expect(await screened(known, "--wait")).toMatchObject({ code: 0 });
});

it("what this key may not test, or the service does not test, is screened, and it is said why", async () => {
  const id = (await screened(at("/known"), "--wait", "--json")).stdout;
  const { agent_id } = JSON.parse(id);
  packed.endpoint.answer = () => json(404, {});
  const front = await startFront(packed.service, (path) => (path.endsWith("/check") ? { status: 404 } : null));
  try {
    const found = await packed.cli(["screen", agent_id, "--suite", "dozen"], {
      AGENT_SCREENING_URL: new URL(front.url).origin,
    });
    expect(found).toMatchObject({ code: 0, stderr: expect.stringContaining("was not tested first: ") });
  } finally {
    await front.stop();
  }
});

it("of a service that finds no agent by its endpoint, as an older one, the agents are looked through", async () => {
  const first = await screened(at("/old"), "--json");
  const problem = { type: "about:blank", title: "Bad request", status: 400, code: "unrecognized_parameter" };
  const front = await startFront(packed.service, (path) =>
    path.startsWith("/api/v1/agents?endpoint=")
      ? {
          status: 400,
          headers: { "content-type": "application/problem+json" },
          body: Buffer.from(JSON.stringify(problem)),
        }
      : null,
  );
  try {
    const there = { AGENT_SCREENING_URL: new URL(front.url).origin };
    const again = await packed.cli(["screen", at("/old"), "--suite", "dozen", "--json"], there);
    expect([again.code, again.stderr.includes("unrecognized")]).toEqual([0, false]);
    expect(JSON.parse(again.stdout).agent_id).toBe(JSON.parse(first.stdout).agent_id);
  } finally {
    await front.stop();
  }
});
