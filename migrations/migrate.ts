/** Brings a database up to the newest migration: `npm run migrate` with DATABASE_URL set. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { type Client, DatabaseError } from "pg";
import * as z from "zod";
import { openClient } from "./client.ts";
import { command, databaseUrl, explained } from "./command.ts";
import { installKept } from "./kept.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
/** Any fixed number: two migrations of one database take turns on it. */
const LOCK = 4_012_345;

/** Where it is noted what was applied, as drizzle-orm's migrator has it. */
const APPLIED = `create schema if not exists drizzle;
  create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`;

/**
 * How long a migration waits for a lock, and then for its next try: less than the second after which PostgreSQL looks for a
 * circle, so that the migration gives way and not the service, unless that had waited before. Whoever comes after it waits as
 * long.
 */
const PATIENCE_MS = 800;
const TRIES = 60;

/** What is said once no try got through. */
const HELD_UP =
  `the service held what it has to lock at each of ${TRIES} tries. What came before it is applied: ` +
  "start npm run migrate again at a quieter time, and deploy after it.";

/** No try got through. */
class HeldUp extends Error {}

/** What is said of a migration that failed for another reason. */
const NOTHING_DONE =
  "(It changed nothing, and what came before it is applied: once that is mended, start npm run migrate again.)";

/** What drizzle-kit keeps of the migrations: `when` is what the migrator knows one by. */
const Journal = z.object({ entries: z.array(z.object({ when: z.number(), tag: z.string() })) });

/** What it is to fail for want of a lock: it was not there in time, or to wait for it would have been a circle. */
const GIVES_WAY: ReadonlySet<string | undefined> = new Set(["55P03", "40P01"]);

/**
 * Applies the migrations that `url`'s database lacks, in order, and has it keep the statements of this version; side by side
 * with another call one waits. Each is a transaction, so that what one locks is free before the next: it can be cut off and
 * started again, beside a running service.
 */
export async function migrate(
  url: string,
  { folder = FOLDER, patience = PATIENCE_MS }: { folder?: string; patience?: number } = {},
): Promise<void> {
  const client = await openClient(url);
  try {
    await inTurn(client, () => client.query(APPLIED));
    const last = await lastApplied(client);
    for (const migration of readMigrationFiles({ migrationsFolder: folder }))
      if (migration.folderMillis > last) await applyNamed(client, migration, folder, patience);
    await inTurn(client, () => installKept(client));
  } finally {
    await client.end();
  }
}

/**
 * Does `work` in a transaction that no other call has at the same time. The lock ends with the transaction and not with the
 * connection: that of a pooled address lives on, and would keep everybody out.
 */
async function inTurn(client: Client, work: () => Promise<unknown>): Promise<void> {
  await client.query("begin");
  await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
  await work();
  await client.query("commit");
}

/** The time of the newest migration that was applied. */
async function lastApplied(client: Client): Promise<number> {
  const { rows } = await client.query<{ last: string }>(
    "select coalesce(max(created_at), 0) as last from drizzle.__drizzle_migrations",
  );
  return Number(rows[0]?.last);
}

/** Applies a migration; where that fails, the error says which one it was. */
async function applyNamed(client: Client, migration: MigrationMeta, folder: string, patience: number): Promise<void> {
  try {
    await applyBesideOthers(client, migration, patience);
  } catch (cause) {
    const { entries } = Journal.parse(JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")));
    const tag = entries.find(({ when }) => when === migration.folderMillis)?.tag ?? migration.hash;
    const said = cause instanceof HeldUp ? HELD_UP : `${explained(cause)} ${NOTHING_DONE}`;
    throw new Error(`The migration ${tag} failed: ${said}`, { cause });
  }
}

/** Applies a migration, again and again while the service holds what it has to lock. */
async function applyBesideOthers(client: Client, migration: MigrationMeta, patience: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await inTurn(client, () => apply(client, migration, patience));
      return;
    } catch (error) {
      const isHeldUp = error instanceof DatabaseError && GIVES_WAY.has(error.code);
      if (!isHeldUp) throw error;
      if (tries === TRIES) throw new HeldUp(HELD_UP, { cause: error });
      await client.query("rollback");
      await delay(patience);
    }
  }
}

async function apply(client: Client, { sql, hash, folderMillis }: MigrationMeta, patience: number): Promise<void> {
  // Another call may have applied it while this one waited for its turn.
  if ((await lastApplied(client)) >= folderMillis) return;
  await client.query("select set_config('lock_timeout', $1, true)", [`${patience}ms`]);
  for (const statement of sql) await client.query(statement);
  await client.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)", [
    hash,
    folderMillis,
  ]);
}

if (import.meta.main)
  await command(async () => {
    await migrate(databaseUrl(process.env));
    console.log("The database is up to date.");
  });
