/** Brings a database up to the newest migration: `npm run migrate` with DATABASE_URL set. */
import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as apply } from "drizzle-orm/node-postgres/migrator";
import { openClient } from "./client.ts";
import { installKept } from "./kept.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
/** Any fixed number: two migrations of one database take turns on it. */
const LOCK = 4_012_345;

/** Applies the migrations that `url`'s database lacks, in order, and has it keep the statements of this version; side by side with another call one waits. */
export async function migrate(url: string): Promise<void> {
  const client = await openClient(url);
  try {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await apply(drizzle(client), { migrationsFolder: FOLDER });
    await installKept(client);
  } finally {
    await client.end();
  }
}

if (import.meta.main) {
  const url = process.env["DATABASE_URL"];
  if (url === undefined) throw new Error("Set DATABASE_URL to the database to migrate.");
  await migrate(url);
  console.log("The database is up to date.");
}
