import { Client } from "pg";

/**
 * Connects to a database. Where the server cuts the connection, also while it ends, the statement under way or the next one
 * fails with that, and not the whole process.
 */
export async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
