import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeData } from "../../stack/neon/postgres-files.ts";
import { startPostgres } from "../../stack/neon/postgres.ts";
import { startStack } from "../../stack/stack.ts";

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
});
