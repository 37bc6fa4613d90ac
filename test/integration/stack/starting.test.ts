import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataFolder, removeData, serverAccount } from "../../stack/neon/postgres-files.ts";
import { startPostgres } from "../../stack/neon/postgres.ts";
import { startStack } from "../../stack/stack.ts";

const DEV = fileURLToPath(new URL("../../commands/dev.ts", import.meta.url));
const PATIENCE = { timeout: 30_000 };

describe("a start of the local stack", () => {
  let dir: string;
  let data: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "stack-starting-"));
    data = join(dir, "postgres");
  });

  afterAll(async () => {
    await removeData(data);
    await rm(dir, { recursive: true });
  });

  test("leaves the data alone that another one works on, also where it was to begin afresh", PATIENCE, async () => {
    const postgres = await startPostgres({ dir: data });
    try {
      const start = startStack({ dir, port: 0, consolePort: 0, fresh: true });
      await expect(start).rejects.toThrow(`process ${process.pid} already runs Postgres`);
      await postgres.createDatabase("still_there");
    } finally {
      await postgres.stop();
    }
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "leaves no server behind when %s cuts it short",
    PATIENCE,
    async (signal) => {
      const child = spawn(process.execPath, [DEV], {
        env: { PATH: process.env["PATH"], STACK_DIR: dir, PORT: "0", CONSOLE_PORT: "0" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      for await (const chunk of child.stdout) if (String(chunk).includes("migrations")) break;
      const lock = join(await dataFolder(data, serverAccount()), "cluster", "postmaster.pid");
      expect(existsSync(lock)).toBe(true);
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
      await expect.poll(() => existsSync(lock), PATIENCE).toBe(false);
    },
  );
});
