import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { caller } from "../../stack/client.ts";
import { startSample } from "../../agents/sample.ts";
import { startService, type TestService } from "../../stack/service.ts";

const COMPILER = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  skipLibCheck: true,
  target: "esnext",
  lib: ["esnext"],
  types: ["node"],
  module: "nodenext",
  rewriteRelativeImportExtensions: true,
  outDir: "built",
};

const run = promisify(execFile);
const CLIENT = new URL("../../client/", import.meta.url);
/** The generator and TypeScript 5 as the package beside the program has them. */
const { resolve } = createRequire(new URL("package.json", CLIENT));

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = mkdtempSync(join(tmpdir(), "generated-client-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER, files: ["screening.ts"] }));
  symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(folder, "node_modules"));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

/** Runs a script of Node's in the folder of the client. */
const node = (script: string, ...options: string[]) => run(process.execPath, [script, ...options], { cwd: folder });

it("a TypeScript client generated from the document compiles strictly and screens an agent with it", async () => {
  const { text } = await caller(service).call("GET", "/openapi.json");
  writeFileSync(join(folder, "openapi.json"), text);
  // A field with a default may be left out of a request.
  const options = ["openapi.json", "--output", "service.d.ts", "--default-non-nullable=false"];
  await node(join(resolve("openapi-typescript"), "../../bin/cli.js"), ...options);
  copyFileSync(new URL("screening.txt", CLIENT), join(folder, "screening.ts"));
  const { stdout: mistakes } = await node(resolve("typescript/lib/tsc.js")).catch((error: { stdout: string }) => error);
  expect(mistakes).toBe("");

  const agent = await startSample({ service: service.url });
  try {
    const { stdout } = await node("built/screening.js", service.url, agent.url);
    expect(JSON.parse(stdout)).toEqual({
      counts: expect.objectContaining({ queued: 0, running: 0, completed: 4, failed: 0 }),
      valid: true,
      row: { name: "Generated", runs: 4 },
      unknown: "not_found",
    });
  } finally {
    await agent.close();
  }
}, 90_000);
