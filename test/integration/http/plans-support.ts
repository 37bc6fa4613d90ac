import { inject } from "vitest";
import * as z from "zod";
import { createCounters } from "../../stack/counters.ts";
import { createFaults } from "../../stack/faults.ts";
import { listen } from "../../stack/http.ts";
import { openClient } from "../../stack/neon/connections.ts";
import { startNeonFront } from "../../stack/neon/front.ts";
import type { TestService } from "../../stack/service.ts";

const Statement = z.object({ query: z.string(), params: z.array(z.unknown()) });
const Sent = z.union([z.object({ queries: z.array(Statement) }), Statement]);
const Plan = z.object({
  "Node Type": z.string(),
  "Relation Name": z.string().optional(),
  "Plan Rows": z.number().default(0),
  // Of a plan that is not carried out these are not known: each of its parts would be.
  "Actual Rows": z.number().default(0),
  "Actual Loops": z.number().default(1),
  "Rows Removed by Filter": z.number().default(0),
  get Plans() {
    return z.array(Plan).optional();
  },
});

/** A statement of the service with its parameters. */
export type Statement = z.output<typeof Statement>;
/** How the database carried a statement out. */
export type Plan = z.output<typeof Plan>;

/** A front of the database that notes what it passes on. */
export interface Recorder {
  /** The setting NEON_LOCAL_PROXY of a service whose statements are noted. */
  url: string;
  statements: Statement[];
  close(): Promise<void>;
}

function server(): string {
  return `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}`;
}

/** Starts a front for a service of this test file; `before` is done before a statement is passed on. */
export async function startRecorder(before?: (statement: Statement) => Promise<void>): Promise<Recorder> {
  const resolve = (name: string) => `${server()}/${name}`;
  const front = await startNeonFront({ resolve, faults: createFaults(), counters: createCounters() });
  const statements: Statement[] = [];
  const recorder = await listen(async ({ headers, body }) => {
    const sent = Sent.parse(JSON.parse(body.toString()));
    const batch = "queries" in sent ? sent.queries : [sent];
    statements.push(...batch);
    if (before !== undefined) for (const statement of batch) await before(statement);
    const passed = Object.entries(headers).filter(([name]) => name.startsWith("neon-"));
    const driver = Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
    const response = await fetch(`${front.url}/sql`, { method: "POST", headers: driver, body: new Uint8Array(body) });
    return { status: response.status, headers: { "content-type": "application/json" }, body: await response.text() };
  });
  return {
    url: recorder.url,
    statements,
    async close() {
      await recorder.close();
      await front.close();
    },
  };
}

/** How a statement is carried out: once more, or, with `analyze` false, without being so. */
export async function planOf(service: TestService, { query, params }: Statement, analyze = true): Promise<Plan> {
  const [row] = await service.sql<{ "QUERY PLAN": unknown }>(
    `explain (analyze ${analyze}, format json) ${query}`,
    params,
  );
  return z.tuple([z.object({ Plan })]).parse(row?.["QUERY PLAN"])[0].Plan;
}

/** The tables that a plan reads from their beginning, where it comes to that. */
export function scanned(plan: Plan): string[] {
  const own = plan["Node Type"] === "Seq Scan" && plan["Actual Loops"] > 0 ? [plan["Relation Name"] ?? ""] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scanned)];
}

/** How often a plan went into a table, or an index of it. */
export function entered(plan: Plan, table: string): number {
  const own = plan["Relation Name"] === table ? plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + entered(part, table), own);
}

/** How many rows of some tables a plan looked at. */
export function looked(plan: Plan, tables: readonly string[]): number {
  const isScan = tables.includes(plan["Relation Name"] ?? "");
  const own = isScan ? (plan["Actual Rows"] + plan["Rows Removed by Filter"]) * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + looked(part, tables), own);
}

/** For how many rows at most the planner has a part make room that tells rows apart. */
export function roomFor(plan: Plan): number {
  const own = ["Aggregate", "Unique"].includes(plan["Node Type"]) ? plan["Plan Rows"] : 0;
  return Math.max(own, ...(plan.Plans ?? []).map(roomFor));
}

/** How many rows of a table a statement fetches when it is carried out once more, by its functions too. */
export async function fetched(service: TestService, { query, params }: Statement, table: string): Promise<number> {
  const [name] = await service.sql<{ name: string }>("select current_database() as name");
  const client = await openClient(`${server()}/${name?.name}`);
  try {
    await client.query("begin");
    await client.query(query, params);
    const { rows } = await client.query<{ rows: number }>(
      `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as rows from pg_stat_xact_user_tables where relname = $1`,
      [table],
    );
    return rows[0]?.rows ?? Number.NaN;
  } finally {
    await client.end();
  }
}
