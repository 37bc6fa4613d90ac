import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildClient } from "../../../clients/typescript/build.ts";
import type { RunningAgent } from "../../agents/server.ts";
import { startSample } from "../../agents/sample.ts";
import { hasBrowser, startBrowser } from "../../stack/browser.ts";
import { caller, newUser } from "../../stack/client.ts";
import { listen } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { install, newFolder, nodes, run } from "./packing-support.ts";

const COMPILER = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  target: "esnext",
  lib: ["esnext", "dom"],
  types: ["node"],
  module: "nodenext",
  outDir: "built",
};

const PROGRAM = new URL("../../client/screening.txt", import.meta.url);
const README = new URL("../../../clients/typescript/README.md", import.meta.url);
/** What a browser or a Worker does with the client: reads a list in pages, and is told what is wrong. */
const READING = `import { createClient, given, ServiceError } from "agent-screening-client";
export async function read(baseUrl) {
  const client = createClient({ baseUrl });
  const names = [];
  for await (const { title } of client.each("/api/v1/tasks", { query: { domain: "math", page_size: 3 } })) names.push(title);
  const wrong = await given(client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: "x" } } })).catch((e) => e);
  return { tasks: new Set(names).size, wrong: wrong instanceof ServiceError && wrong.code };
}`;

let service: TestService;
let agent: RunningAgent;
let folder: string;
let mathTasks: number;

beforeAll(async () => {
  service = await startService();
  agent = await startSample({ service: service.url });
  folder = newFolder(["openapi-fetch", "openapi-typescript-helpers", "@types/node", "undici-types"]);
  await install("typescript", buildClient, folder);
  mathTasks = (await caller(service).call("GET", "/api/v1/tasks?domain=math&page_size=100")).body.items.length;
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await agent.close();
  await service.stop();
});

/** A program as one script, with the packed client in it. */
async function bundled(contents: string, minify = false): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    minify,
  });
  return outputFiles[0]?.text ?? "";
}

describe("the packed TypeScript client", () => {
  // The older compiler takes its time for the declarations of everything else, which the other one checks.
  it.each([
    { which: "TypeScript 5", place: "../../client/package.json", skipLibCheck: true },
    { which: "this project's TypeScript", place: "../../../package.json", skipLibCheck: false },
  ])(
    "compiles strictly in a program, under $which",
    async ({ place, skipLibCheck }) => {
      copyFileSync(PROGRAM, join(folder, "screening.ts"));
      const [, sample = ""] = /```ts\n(.*?)```/s.exec(readFileSync(README, "utf8")) ?? [];
      writeFileSync(join(folder, "sample.ts"), `declare const agent_id: string, suite_id: string;\n${sample}`);
      const config = { compilerOptions: { ...COMPILER, skipLibCheck }, files: ["screening.ts", "sample.ts"] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const { resolve } = createRequire(new URL(place, import.meta.url));
      const compiler = join(resolve("typescript/package.json"), "../bin/tsc");
      const mistakes = await run(process.execPath, [compiler], { cwd: folder }).catch((error: unknown) => error);
      expect(mistakes).toEqual({ stdout: "", stderr: "" });
    },
    180_000,
  );

  it("screens an agent from each Node there is", async () => {
    const user = await newUser(service, { plan: "pro" });
    const key = await user.call("POST", "/api/v1/api-keys", { name: "client", scope: "write" });
    for (const [version, node] of await nodes()) {
      const { stdout } = await run(node, ["built/screening.js", service.url, agent.url, key.body.key], { cwd: folder });
      expect({ version, ...JSON.parse(stdout) }).toEqual({
        version,
        counts: { queued: 0, running: 0, completed: 4, failed: 0, cancelled: 0, passed: expect.any(Number) },
        status: "completed",
        told: 4,
        listed: 4,
        exported: true,
        scored: true,
        spans: [],
        valid: true,
        held: [
          [true, null],
          [false, "signature"],
          [true, null],
        ],
        again: ["impossible", expect.stringContaining("not published yet")],
        runs: 4,
        unknown: [404, "not_found"],
      });
    }
  }, 90_000);

  it.each(["agent-screening-client", "agent-screening-client/verify"])(
    "takes at most 10 KB of a bundle, compressed, and nothing of Node: %s",
    async (name) => {
      const code = await bundled(`export * from "${name}";`, true);
      expect(gzipSync(code).length).toBeLessThanOrEqual(10 * 1024);
      expect(code).not.toMatch(/node:/);
    },
  );

  it("reads lists in a Worker", async () => {
    const script = await bundled(`${READING}
      export default { async fetch(request) { return Response.json(await read(new URL(request.url).searchParams.get("of"))); } };`);
    const worker = new Miniflare(
      convertV4MiniflareOptions({ modules: true, script, compatibilityDate: "2026-11-01", cf: false }),
    );
    try {
      const answer = await worker.dispatchFetch(`http://worker.test/?of=${service.url}`);
      expect(await answer.json()).toEqual({ tasks: mathTasks, wrong: "validation_failed" });
    } finally {
      await worker.dispose();
    }
  });

  it.runIf(hasBrowser)("reads lists in a browser, from a page of another origin", async () => {
    const site = await listen(() => ({ status: 200, headers: { "content-type": "text/html" }, body: "" }));
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      const code = await bundled(`${READING} globalThis.read = read;`);
      await page.goto(site.url);
      await page.addScriptTag({ content: code, type: "module" });
      // A module runs some time after it has been added.
      await page.waitForFunction("globalThis.read !== undefined");
      expect(await page.evaluate(`read(${JSON.stringify(service.url)})`)).toEqual({
        tasks: mathTasks,
        wrong: "validation_failed",
      });
    } finally {
      await browser.close();
      await site.close();
    }
  });
});
