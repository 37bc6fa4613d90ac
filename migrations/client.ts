import { Client } from "pg";

/** How long a server may take to let somebody in, that of a database which was asleep included. */
const PATIENCE_MS = 30_000;

/**
 * Connects to a database; fails where that takes longer than `patience`, in milliseconds. Where the server cuts the connection, also while it ends, the statement under way or the next one
 * fails with that, and not the whole process.
 */
export async function openClient(url: string, patience = PATIENCE_MS): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: patience });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
