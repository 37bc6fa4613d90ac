import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCommandLine } from "../../../clients/cli/build.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { signRequest } from "../../../shared/platform/outbound/signature.ts";
import { newUser, type User } from "../../stack/client.ts";
import { listen, type Listening } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addSuite } from "../runs/support.ts";
import { commandLine } from "./cli-support.ts";
import { install, newFolder } from "./packing-support.ts";

const TASKS = 3;
/** Whether a command of this machine ends well. */
function works(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** How an agent of each language is started; those whose runtime is missing here are left out, and said. */
const LANGUAGES = [
  { language: "typescript", start: [process.execPath, "agent.ts"], there: true },
  { language: "python", start: ["python3", "agent.py"], there: works("python3", "-c", "import cryptography") },
  { language: "go", start: ["go", "run", "agent.go"], there: works("go", "version") },
] as const;
const MISSING = LANGUAGES.filter(({ there }) => !there).map(({ language }) => language);
if (MISSING.length > 0)
  console.warn(`Agents without a runtime on this machine were not started: ${MISSING.join(", ")}.`);

let service: TestService;
let owner: User;
let folder: string;
/** What answers in place of a service. */
let elsewhere: Listening;
let cli: ReturnType<typeof commandLine>;
const children: ChildProcess[] = [];
/** Takes spans, and never answers. */
const collector = createServer();

beforeAll(async () => {
  service = await startService();
  elsewhere = await listen(() => ({ status: 200, headers: { "content-type": "text/html" }, body: "<p>Welcome" }));
  await addSuite(service, TASKS, { slug: "few" });
  owner = await newUser(service, { plan: "pro" });
  const { body } = await owner.call("POST", "/api/v1/api-keys", { name: "init", scope: "write" });
  folder = newFolder([]);
  await install("cli", buildCommandLine, folder);
  cli = commandLine(folder, { AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: body.key });
});

afterAll(async () => {
  for (const child of children) child.kill();
  collector.close();
  rmSync(folder, { recursive: true, force: true });
  await elsewhere.close();
  await service.stop();
});

/** A port that is free now. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Where a server listens; it is started unless it was before. */
async function listening(server: Server): Promise<unknown> {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  return server.address();
}

/** Starts an agent, and waits until it says that it listens. */
async function started([command, ...args]: readonly [string, ...string[]], env: Record<string, string>): Promise<void> {
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env } });
  children.push(child);
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (data: Buffer) => (said += String(data)));
    child.stdout.on("data", (data: Buffer) => {
      said += String(data);
      if (said.includes("listening at")) resolve();
    });
    child.on("exit", () => reject(new Error(said)));
  });
}

const BODY = JSON.stringify({
  protocol: "2026-11",
  run_id: "r",
  task: { domain: "math", prompt: "1 + 1", output_format: "text" },
});

describe.each(LANGUAGES.filter(({ there }) => there))(
  "the agent in $language that init writes",
  ({ language, start }) => {
    it("is screened: every run gets an answer and a span, and nobody but the service is answered", async () => {
      expect(await cli(["init", language])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(start.at(-1) ?? ""),
      });
      expect(await cli(["init", language])).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });

      const endpoint = `http://127.0.0.1:${await freePort()}/`;
      const { body: agent } = await owner.call("POST", "/api/v1/agents", { name: language, endpoint });
      const { body: receiver } = await owner.call("POST", `/api/v1/agents/${agent.id}/otlp-token`);
      await started(start, {
        PORT: new URL(endpoint).port,
        // Without a path, as people write it; the service signs for the address with one.
        PUBLIC_URL: new URL(endpoint).origin,
        OTEL_EXPORTER_OTLP_ENDPOINT: `${service.url}/api/v1/otlp`,
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${receiver.token}`,
      });

      expect(await cli(["screen", agent.id, "--suite", "few"])).toMatchObject({ code: 0 });
      const spans = async () => {
        const [row] = await service.sql<{ runs: number }>(
          "select count(distinct s.run_id)::int as runs from spans s join runs r on r.id = s.run_id where r.agent_id = $1",
          [agent.id],
        );
        return row?.runs;
      };
      await expect.poll(spans, { timeout: 20_000 }).toBe(TASKS);
      // What is left of the time in which late spans are waited for.
      await service.broker.advance(10_000);
      await service.settled();
      const { body: runs } = await owner.call("GET", `/api/v1/runs?agent_id=${agent.id}`);
      expect(runs.items.map(({ status, failure_code }: Record<string, unknown>) => [status, failure_code])).toEqual(
        Array.from({ length: TASKS }, () => ["completed", null]),
      );

      const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
      const plain = { method: "POST", url: endpoint, headers: { "content-type": "application/json" }, body: BODY };
      const signed = async (now = new Date(), url = endpoint) => ({
        ...plain.headers,
        ...(await signRequest({ ...plain, url }, active, { now, agentUrl: service.url })),
      });
      const call = async (headers: Record<string, string>, body = BODY) =>
        (await fetch(endpoint, { method: "POST", headers, body })).status;
      const genuine = await signed();
      const stranger = { ...genuine, Signature: `sig1=:${"A".repeat(86)}==:` };
      expect({
        genuine: await call(genuine),
        again: await call(genuine),
        unsigned: await call(plain.headers),
        "of another body": await call(await signed(), BODY.replace("1 + 1", "2 + 2")),
        "with another's signature": await call(stranger),
        "for another agent": await call(await signed(new Date(), "http://127.0.0.1:1/")),
        expired: await call(await signed(new Date(Date.now() - 120_000))),
      }).toEqual({
        genuine: 200,
        again: 401,
        unsigned: 401,
        "of another body": 401,
        "with another's signature": 401,
        "for another agent": 401,
        expired: 401,
      });
    });

    it("answers the next call over a connection while a collector does not take the spans of the one before", async () => {
      const endpoint = `http://127.0.0.1:${await freePort()}/`;
      const { port } = (await listening(collector)) as AddressInfo;
      await started(start, {
        PORT: new URL(endpoint).port,
        SERVICE_URL: service.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      });
      const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const plain = { method: "POST", url: endpoint, headers: { "content-type": "application/json" }, body: BODY };
      for (let calls = 0; calls < 2; calls += 1) {
        const signed = await signRequest(plain, active, { now: new Date(), agentUrl: service.url });
        const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
        const headers = { ...plain.headers, ...signed, traceparent };
        // Less than the agents wait for the collector.
        const options = { agent, method: "POST", headers, signal: AbortSignal.timeout(8000) };
        const [response] = (await once(request(endpoint, options).end(BODY), "response")) as [IncomingMessage];
        expect([response.statusCode, await textOf(response)]).toEqual([200, expect.stringContaining("output")]);
      }
      agent.destroy();
    });

    it("reads the service's keys again after an error, by no name that gateways refuse", async () => {
      const answers = [
        () => ({ status: 503, headers: { "content-type": "application/problem+json" }, body: '{"title":"Down"}' }),
        async () => {
          const keys = await fetch(`${service.url}/.well-known/http-message-signatures-directory`);
          return { status: 200, headers: { "content-type": "application/json" }, body: await keys.text() };
        },
      ];
      const names: (string | undefined)[] = [];
      const directory = await listen(({ headers }) => {
        names.push(headers["user-agent"]);
        return (answers.shift() ?? (() => ({ status: 500 })))();
      });
      const endpoint = `http://127.0.0.1:${await freePort()}/`;
      await started(start, { PORT: new URL(endpoint).port, SERVICE_URL: directory.url });
      const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
      const plain = { method: "POST", url: endpoint, headers: { "content-type": "application/json" }, body: BODY };
      const call = async () => {
        const signed = await signRequest(plain, active, { now: new Date(), agentUrl: directory.url });
        return (await fetch(endpoint, { ...plain, headers: { ...plain.headers, ...signed } })).status;
      };
      expect([await call(), await call(), await call()]).toEqual([503, 200, 200]);
      expect(names).toEqual([expect.not.stringMatching(/^python/i), expect.not.stringMatching(/^python/i)]);
      await directory.close();
    });

    it("listens where it is told to, and takes a call in chunks, as tunnels pass it on", async () => {
      const endpoint = `http://127.0.0.2:${await freePort()}/`;
      const { port, hostname } = new URL(endpoint);
      const PUBLIC_URL = "https://agent.example.com/run";
      await started(start, { PORT: port, BIND_ADDRESS: hostname, PUBLIC_URL, SERVICE_URL: service.url });
      const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const call = async (url: string) => {
        const plain = { method: "POST", url, headers: { "content-type": "application/json" }, body: BODY };
        const signed = await signRequest(plain, active, { now: new Date(), agentUrl: service.url });
        const sent = request(endpoint, { agent, method: "POST", headers: { ...plain.headers, ...signed } });
        sent.write(BODY.slice(0, 20));
        sent.end(BODY.slice(20));
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        return [response.statusCode, await textOf(response)];
      };
      expect(await call(PUBLIC_URL)).toEqual([200, expect.stringContaining("output")]);
      expect(await call(endpoint)).toEqual([401, expect.stringContaining(`for ${PUBLIC_URL}: PUBLIC_URL has to be`)]);
      agent.destroy();
    });

    it.each([
      ["can't be read", async () => `http://127.0.0.1:${await freePort()}`],
      ["are a page of somebody else's", async () => elsewhere.url],
    ])("asks to be called again in a second where the service's keys %s", async (_how, directory) => {
      const endpoint = `http://127.0.0.1:${await freePort()}/`;
      const nobody = await directory();
      await started(start, { PORT: new URL(endpoint).port, SERVICE_URL: nobody });
      const { active } = await loadSigningKeys(service.settings["SIGNING_KEYS"] ?? "");
      const plain = { method: "POST", url: endpoint, headers: { "content-type": "application/json" }, body: BODY };
      const signed = await signRequest(plain, active, { now: new Date(), agentUrl: nobody });
      const { status, headers } = await fetch(endpoint, { ...plain, headers: { ...plain.headers, ...signed } });
      expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    });
  },
);

it("says how to be called by a service that is elsewhere, which calls https alone", async () => {
  const { code, stdout } = await cli(["init", "typescript", "--force", "--url", "https://screening.example.com"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("screen http://");
  expect(stdout).toMatch(/PUBLIC_URL=https:\S+ node agent\.ts\n.*screen https:/);
});
