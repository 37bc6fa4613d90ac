import type { Client } from "pg";
import { type Installed, KEPT_PREFIX } from "../shared/db/kept.ts";
import { KEPT as OF_RUNS } from "../shared/runs/kept.ts";
import { KEPT as OF_WEBHOOKS } from "../shared/webhooks/kept.ts";

/** All that the database keeps. */
export const KEPT: readonly Installed[] = [...OF_RUNS, ...OF_WEBHOOKS];

/**
 * Makes the functions of the statements that the database keeps, and removes those of statements that are no longer sent:
 * a Worker that still runs sends its own as they are. They are made of the same code that sends them, so that no
 * migration has to follow a change of it. To be called in a transaction, which they all are part of.
 */
export async function installKept(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select proname as name from pg_proc where pronamespace = 'public'::regnamespace and starts_with(proname, $1)",
    [KEPT_PREFIX],
  );
  const there = new Set(rows.map(({ name }) => name));
  const wanted = new Set(KEPT.map(({ name }) => name));
  const statements = [
    ...KEPT.filter(({ name }) => !there.has(name)).map(({ definition }) => definition),
    ...[...there].filter((name) => !wanted.has(name)).map((name) => `drop function ${client.escapeIdentifier(name)}`),
  ];
  if (statements.length > 0) await client.query(statements.join(";\n"));
}
