import { rmSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { migrate } from "../../migrations/migrate.ts";
import { seed } from "../../migrations/seed.ts";
import type { Keyring } from "../../shared/platform/encryption.ts";
import { startPostgres } from "./neon/postgres.ts";
import { scratchFolder } from "./scratch.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresPort: number;
  }
}

/** The database that every test file gets a copy of: migrated and seeded. */
export const TEMPLATE = "template_service";
/** The key that encrypts what the template keeps encrypted. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString("base64");
/** The same as scripts take it. */
export const TEST_KEYS: Keyring = [{ name: null, secret: TEST_ENCRYPTION_KEY }];

/** Starts one PostgreSQL server for all test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = scratchFolder("screening-test-");
  const postgres = await startPostgres({ dir, throwaway: true });
  await postgres.createDatabase(TEMPLATE);
  await migrate(postgres.url(TEMPLATE));
  await seed(postgres.url(TEMPLATE), TEST_KEYS);
  project.provide("postgresPort", postgres.port);
  return async () => {
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  };
}
