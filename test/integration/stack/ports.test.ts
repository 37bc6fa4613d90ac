import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listen } from "../../stack/http.ts";
import { untilFree } from "../../stack/ports.ts";
import { startStack } from "../../stack/stack.ts";

it("tells which port is taken and which setting moves it, before anything is emptied or started", async () => {
  const dir = mkdtempSync(join(tmpdir(), "screening-ports-"));
  writeFileSync(join(dir, "kept"), "");
  const taken = await listen(() => ({ status: 204 }));
  const steps: string[] = [];
  const options = { dir, port: taken.port, consolePort: taken.port, fresh: true, waits: 1 };
  const starting = startStack({ ...options, progress: (step) => steps.push(step) });
  await expect(starting).rejects.toThrow(`listens at 127.0.0.1:${taken.port}: end it, or set PORT to another port`);
  expect([steps, existsSync(join(dir, "kept"))]).toEqual([[], true]);
  await taken.close();
  rmSync(dir, { recursive: true });
});

it("waits for a port that is given up meanwhile", async () => {
  const taken = await listen(() => ({ status: 204 }));
  const waiting = untilFree(taken.port, "PORT");
  await taken.close();
  await waiting;
});
