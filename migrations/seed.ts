/** Loads the shipped catalogue: `npm run seed` with DATABASE_URL and the encryption keys set. Again, it changes nothing. */
import { isDeepStrictEqual } from "node:util";
import type { Client } from "pg";
import * as z from "zod";
import { firstMintingSecret, MINTING, openMinting, PRESENT, sealMinting } from "../shared/catalogue/minting.ts";
import { publicSuites } from "../shared/suites/public/index.ts";
import { SHIPPED_COLUMNS, type ShippedTask, shippedRow } from "../shared/suites/shipped.ts";
import { mintSuite, secretSuites } from "../shared/suites/secret/index.ts";
import { VERSIONS } from "../shared/suites/versions.static.ts";
import type { Keyring } from "../shared/platform/encryption.ts";
import { openClient } from "./client.ts";
import { command, databaseUrl, encryptionKeys } from "./command.ts";

/** Any fixed number: two seedings of one database take turns on it. */
const LOCK = 4_012_346;

/** A suite as it ships; the tasks of a secret one are minted for its version. */
interface ShippedSuite {
  slug: string;
  name: string;
  description: string;
  is_secret: boolean;
  tasks(version: number): ShippedTask[];
}

/** What a seeding did. */
export interface Seeded {
  suites: number;
  tasks: number;
  changed: number;
}

function shipped(secretKey: Uint8Array): ShippedSuite[] {
  return [
    ...publicSuites.map((suite) => ({ ...suite, is_secret: false, tasks: () => suite.tasks })),
    ...secretSuites.map((suite) => ({
      ...suite,
      is_secret: true,
      tasks: (version: number) => mintSuite(secretKey, suite, version),
    })),
  ];
}

/**
 * Loads every shipped suite in one transaction. A task that changed, or whose template did, is retired and takes its place
 * anew, and its suite gets a new version, so that runs of the old form stay what they were. One that an operator retired
 * stays out until it ships changed. The first seeding makes the secret that the secret suites are minted with, which `keys`
 * encrypt.
 */
export async function seed(url: string, keys: Keyring): Promise<Seeded> {
  const client = await openClient(url);
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    const result: Seeded = { suites: 0, tasks: 0, changed: 0 };
    for (const suite of shipped(await mintingSecret(client, keys))) {
      const { tasks, changed } = await seedSuite(client, suite);
      result.suites += 1;
      result.tasks += tasks;
      result.changed += changed;
    }
    await client.query("commit");
    return result;
  } finally {
    await client.end();
  }
}

async function mintingSecret(client: Client, keys: Keyring): Promise<Uint8Array> {
  const stored = await client.query<{ sealed: string }>("select sealed from service_secrets where name = $1", [
    MINTING,
  ]);
  const [row] = stored.rows;
  if (row !== undefined) return openMinting(row.sealed, keys);
  const present = await client.query<{ result: Parameters<typeof firstMintingSecret>[1] }>(PRESENT);
  const first = firstMintingSecret(keys, present.rows[0]?.result ?? { versions: {}, prompts: {} });
  // The service may have made one at this moment.
  const kept = await client.query<{ sealed: string }>(
    `insert into service_secrets as s (name, sealed) values ($1, $2)
     on conflict (name) do update set sealed = s.sealed returning s.sealed`,
    [MINTING, sealMinting(first, keys)],
  );
  return openMinting(kept.rows[0]?.sealed ?? "", keys);
}

async function seedSuite(client: Client, suite: ShippedSuite): Promise<{ tasks: number; changed: number }> {
  const { rows } = await client.query<{ id: string; version: number; fresh: boolean }>(
    `insert into suites as s (slug, name, description, is_secret) values ($1, $2, $3, $4)
     on conflict (slug) do update set name = excluded.name, description = excluded.description
     returning id, version, xmax = 0 as fresh`,
    [suite.slug, suite.name, suite.description, suite.is_secret],
  );
  const [written] = rows;
  if (written === undefined) throw new Error(`The suite ${suite.slug} can't be written.`);
  const { id, version, fresh } = written;
  const present = await client.query<Record<string, unknown>>(
    "select * from tasks where suite_id = $1 and is_active and slug is not null order by position",
    [id],
  );
  const out = await takenOut(client, id, suite, present.rows);
  const tasksAt = (at: number) =>
    suite
      .tasks(at)
      .map(shippedRow)
      .filter((task) => !out.has(familyOf(task)));
  const wanted = tasksAt(version);
  const kept = present.rows.map((row) => pick(row, Object.keys(wanted[0] ?? {})));
  const outdated = await askedOtherwise(client, present.rows);
  if (outdated.size === 0 && isDeepStrictEqual(kept, wanted.map(plain))) return { tasks: wanted.length, changed: 0 };
  const next = fresh ? version : version + 1;
  const tasks = fresh ? wanted : tasksAt(next);
  const same = (task: Record<string, unknown>) =>
    !outdated.has(String(task["slug"])) && kept.some((row) => isDeepStrictEqual(row, plain(task)));
  const staying = tasks.filter(same).map((task) => task["slug"]);
  await client.query(
    `update tasks set is_active = false, retired_at = now()
     where suite_id = $1 and is_active and slug is not null and not (slug = any($2::text[]))`,
    [id, staying],
  );
  for (const [position, task] of tasks.entries()) {
    await (same(task)
      ? client.query("update tasks set position = $1 where slug = $2 and is_active", [position + 1, task["slug"]])
      : insert(client, { ...task, suite_id: id, position: position + 1, is_secret: suite.is_secret }));
  }
  await client.query("update suites set version = $2 where id = $1", [id, next]);
  await client.query("update tasks set suite_version = $2 where suite_id = $1 and is_active", [id, next]);
  return { tasks: tasks.length, changed: tasks.length - staying.length };
}

/**
 * The slugs of those minted tasks whose first run was asked by another version of their template. Their rows hold a sample
 * and tell nothing of the template; without such a run there is nothing to keep apart.
 */
async function askedOtherwise(client: Client, present: Record<string, unknown>[]): Promise<Set<string>> {
  const minted = present.filter((task) => Object.hasOwn(VERSIONS, familyOf(task))).map(({ id }) => id);
  const { rows } = await client.query<{ slug: string; version: number }>(
    `select t.slug, r.version from tasks t cross join lateral (
       select template_version as version from runs where task_id = t.id and template_version is not null order by id limit 1
     ) r where t.id = any($1::uuid[])`,
    [minted],
  );
  return new Set(
    rows.filter(({ slug, version }) => VERSIONS[familyOf({ slug })]?.version !== version).map(({ slug }) => slug),
  );
}

/**
 * The families of the tasks that an operator has retired: none is active in their place, and what ships is what they were.
 * They stay out; one that ships changed comes in.
 */
async function takenOut(
  client: Client,
  suiteId: string,
  suite: ShippedSuite,
  present: Record<string, unknown>[],
): Promise<Set<string>> {
  const { rows } = await client.query<Record<string, unknown> & { suite_version: number }>(
    `select distinct on (family) t.* from tasks t, regexp_replace(t.slug, '-v[0-9]+-', '-') family
     where t.suite_id = $1 and not t.is_active and t.slug is not null order by family, t.retired_at desc, t.id desc`,
    [suiteId],
  );
  const active = new Set(present.map(familyOf));
  const retired = rows.filter((row) => {
    if (active.has(familyOf(row))) return false;
    const shippedThen = suite.tasks(row.suite_version).find(({ slug }) => slug === row["slug"]);
    if (shippedThen === undefined) return false;
    const task = shippedRow(shippedThen);
    return isDeepStrictEqual(pick(row, Object.keys(task)), plain(task));
  });
  return new Set(retired.map(familyOf));
}

/** The slug of a task, of a secret one without the version of its suite. */
function familyOf(task: Record<string, unknown>): string {
  return String(task["slug"]).replace(/-v\d+-/, "-");
}

async function insert(client: Client, task: Record<string, unknown>): Promise<void> {
  const names = `suite_id, position, is_secret, ${SHIPPED_COLUMNS}`;
  await client.query(`insert into tasks (${names}) select ${names} from jsonb_populate_record(null::tasks, $1)`, [
    JSON.stringify(task),
  ]);
}

function pick(row: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** The same value as it comes back from the database: what JSON leaves out is gone. */
function plain(task: Record<string, unknown>): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(task)));
}

if (import.meta.main)
  await command(async () => {
    const { suites, tasks, changed } = await seed(databaseUrl(process.env), encryptionKeys(process.env));
    console.log(`${suites} suites with ${tasks} tasks are in place; ${changed} tasks are new or changed.`);
  });
