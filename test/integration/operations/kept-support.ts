import type { Client } from "pg";
import { inject } from "vitest";
import { KEPT } from "../../../migrations/kept.ts";
import { openClient } from "../../stack/neon/connections.ts";
import type { TestService } from "../../stack/service.ts";

/** The names of all functions that the database keeps. */
export const NAMES = KEPT.map(({ name }) => name).toSorted();

/** A connection of its own to the service's database. */
export async function connect(service: TestService): Promise<{ url: string; client: Client }> {
  const [row] = await service.sql<{ name: string }>("select current_database() as name");
  const url = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}/${row?.name}`;
  return { url, client: await openClient(url) };
}
