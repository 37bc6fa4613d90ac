import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../../db/change.ts";
import { service_secrets, suites, tasks } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { lockSuite } from "../create-task.ts";
import { MINTING, mintingSecret } from "../minting.ts";
import { SecretSuiteRotateResult } from "./schemas.ts";
import { SHIPPED_COLUMNS, shippedRow } from "../../suites/shipped.ts";
import { mintSuite, secretSuites } from "../../suites/secret/index.ts";

const Suite = z.object({ slug: z.string(), version: z.int(), minting: z.string().nullable() });

const Rotation = z.object({
  /** The suite's version before. */
  version: z.int(),
  /** Null if nothing was rotated: the version had moved on, or no task is active. */
  rotated: SecretSuiteRotateResult.nullable(),
});

/**
 * Gives a suite and its active tasks the next version. A task that a template minted is retired, and one minted for the
 * new version takes its place; every other task stays the same row. Simultaneous rotations follow one another, each
 * with a version of its own. Throws `feature_disabled`, and 404 for a suite without an active task.
 */
export async function rotateSuite(ctx: Context, suiteId: string): Promise<z.output<typeof SecretSuiteRotateResult>> {
  if (!ctx.env.FLAGS.has("secret_suites"))
    throw new Problem("feature_disabled", "Secret suites are switched off here; nothing was rotated.");
  const suite = await read(
    ctx,
    Suite,
    sql`select jsonb_build_object('slug', k.slug, 'version', k.version, 'minting', (
        select s.sealed from ${service_secrets} s where s.name = ${MINTING})) as result
      from ${suites} k where k.id = ${suiteId}::uuid`,
  );
  if (suite === null) throw notFound("suite");
  const templates = secretSuites.find(({ slug }) => slug === suite.slug);
  const secret = templates === undefined ? null : await mintingSecret(ctx, suite.minting);
  const minted = (version: number): Record<string, unknown>[] =>
    templates === undefined || secret === null ? [] : mintSuite(secret, templates, version).map(shippedRow);
  // Each further turn means that another rotation has succeeded, so this ends however many run side by side.
  for (let from = suite.version; ; ) {
    const { version, rotated } = await rotateFrom(ctx, suiteId, from, minted(from + 1));
    if (rotated !== null) {
      ctx.cache.invalidate("catalogue");
      return rotated;
    }
    if (version === from) throw new Problem("not_found", "This suite has no active task, so there is none to rotate.");
    from = version;
  }
}

/** Rotates a suite that is still at the version `from`; `rows` are its freshly minted tasks. */
async function rotateFrom(
  ctx: Context,
  suiteId: string,
  from: number,
  rows: Record<string, unknown>[],
): Promise<z.output<typeof Rotation>> {
  const columns = sql.raw(SHIPPED_COLUMNS);
  const parts = sql`with suite as (
    select k.id, k.version + 1 as next from ${suites} k where k.id = ${suiteId}::uuid and k.version = ${from}::integer
  ), minted as (
    select m.* from jsonb_populate_recordset(null::${tasks}, ${JSON.stringify(rows)}::jsonb) m
  ), retired as (
    update ${tasks} t set is_active = false, retired_at = ${ctx.now().toISOString()}::timestamptz
    from suite s, minted m where t.suite_id = s.id and t.is_active and ${sameTemplate}
    returning t.position as place, m.slug as replacement
  ), inserted as (
    insert into ${tasks} (suite_id, suite_version, position, is_secret, ${columns})
    select s.id, s.next, r.place, true, ${columns} from suite s, retired r join minted m on m.slug = r.replacement
    returning id
  ), kept as (
    update ${tasks} t set suite_version = s.next from suite s
    where t.suite_id = s.id and t.is_active and not exists (select from minted m where ${sameTemplate})
    returning t.id
  ), rotated as (
    select (select count(*) from inserted) + (select count(*) from kept) as tasks
  ), raised as (
    update ${suites} k set version = s.next from suite s, rotated x where k.id = s.id and x.tasks > 0 returning k.version
  )`;
  const select = sql`select jsonb_build_object('version', k.version, 'rotated', (
      select jsonb_build_object('suite_id', k.id, 'previous_version', k.version, 'suite_version', r.version, 'tasks_rotated', x.tasks)
      from raised r, rotated x
    )) as result from ${suites} k where k.id = ${suiteId}::uuid`;
  const rotation = await write(ctx, { lock: lockSuite(suiteId), parts, select, result: Rotation });
  if (rotation === null) throw notFound("suite");
  return rotation;
}

/** SQL: whether the tasks `t` and `m` come from the same template: their slugs differ only in the version. */
const sameTemplate: SQL = sql`regexp_replace(t.slug, '-v[0-9]+-', '-') = regexp_replace(m.slug, '-v[0-9]+-', '-')`;
