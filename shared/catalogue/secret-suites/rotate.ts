import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { service_secrets, suites, tasks } from "../../db/schema/index.ts";
import { readJson, writeJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { lockSuite } from "../create-task.ts";
import { MINTING, mintingSecret } from "../minting.ts";
import type { SecretSuiteRotateResult } from "./schemas.ts";
import { SHIPPED_COLUMNS, shippedRow } from "../../suites/shipped.ts";
import { mintSuite, secretSuites } from "../../suites/secret/index.ts";

interface Outcome {
  /** The suite's version before. */
  version: number;
  /** Null where nothing was rotated: the version had moved on, or no task is active. */
  rotated: z.input<typeof SecretSuiteRotateResult> | null;
}

/**
 * Gives a suite and its active tasks the next version. A task that a template minted is retired, and one that is drawn
 * for the new version takes its place; every other task stays the row it is. Rotations at once follow each other, each
 * with a version of its own. Throws `feature_disabled`, and 404 for a suite without an active task.
 */
export async function rotateSuite(ctx: Context, suiteId: string): Promise<z.input<typeof SecretSuiteRotateResult>> {
  if (!ctx.env.FLAGS.has("secret_suites"))
    throw new Problem("feature_disabled", "Secret suites are switched off here; nothing was rotated.");
  const suite = await readJson<{ slug: string; version: number; minting: string | null }>(
    ctx,
    sql`select jsonb_build_object('slug', k.slug, 'version', k.version, 'minting', (
        select s.sealed from ${service_secrets} s where s.name = ${MINTING})) as result
      from ${suites} k where k.id = ${suiteId}::uuid`,
  );
  if (suite === null) throw notFound("suite");
  const templates = secretSuites.find(({ slug }) => slug === suite.slug);
  const secret = templates === undefined ? null : await mintingSecret(ctx, suite.minting);
  const minted = (version: number): Record<string, unknown>[] =>
    templates === undefined || secret === null ? [] : mintSuite(secret, templates, version).map(shippedRow);
  // A version that has moved on is another rotation's success: this ends, whatever happens side by side.
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

function rotateFrom(ctx: Context, suiteId: string, from: number, rows: Record<string, unknown>[]): Promise<Outcome> {
  const columns = sql.raw(SHIPPED_COLUMNS);
  const ctes = sql`with suite as (
    select k.id, k.version + 1 as next from ${suites} k where k.id = ${suiteId}::uuid and k.version = ${from}::integer
  ), minted as (
    select m.* from jsonb_populate_recordset(null::${tasks}, ${JSON.stringify(rows)}::jsonb) m
  ), retired as (
    update ${tasks} t set is_active = false, retired_at = ${ctx.now().toISOString()}::timestamptz
    from suite s, minted m where t.suite_id = s.id and t.is_active and ${sameTemplate}
    returning t.position as place, m.slug as successor
  ), drawn as (
    insert into ${tasks} (suite_id, suite_version, position, is_secret, ${columns})
    select s.id, s.next, r.place, true, ${columns} from suite s, retired r join minted m on m.slug = r.successor
    returning id
  ), kept as (
    update ${tasks} t set suite_version = s.next from suite s
    where t.suite_id = s.id and t.is_active and not exists (select from minted m where ${sameTemplate})
    returning t.id
  ), moved as (
    select (select count(*) from drawn) + (select count(*) from kept) as tasks
  ), raised as (
    update ${suites} k set version = s.next from suite s, moved x where k.id = s.id and x.tasks > 0 returning k.version
  )`;
  const result = sql`select jsonb_build_object('version', k.version, 'rotated', (
      select jsonb_build_object('suite_id', k.id, 'previous_version', k.version, 'suite_version', r.version, 'tasks_rotated', x.tasks)
      from raised r, moved x
    )) as result from ${suites} k where k.id = ${suiteId}::uuid`;
  return writeJson<Outcome>(ctx, ctes, result, lockSuite(suiteId));
}

/** SQL: whether the tasks `t` and `m` come of one template: their slugs differ in nothing but the version. */
const sameTemplate: SQL = sql`regexp_replace(t.slug, '-v[0-9]+-', '-') = regexp_replace(m.slug, '-v[0-9]+-', '-')`;
