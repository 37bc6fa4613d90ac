import { type ClientBase, Pool, type PoolConfig } from "pg";

export { openClient } from "../../../migrations/client.ts";

/** Connections to PostgreSQL that outlive the database they lead to, and that are really gone once they are closed. */
export interface Connections {
  readonly pool: Pool;
  /** Resolves when the server has let go of every connection; one that a statement still holds is waited for. */
  close(): Promise<void>;
}

/**
 * Opens a pool. Its own `end` resolves while connections are still ending; a database dropped at that moment cuts them,
 * and the error of a cut connection that nobody listens to ends the process.
 */
export function openPool(config: PoolConfig): Connections {
  const pool = new Pool(config);
  const open = new Map<ClientBase, Promise<unknown>>();
  pool.on("error", () => undefined);
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    open.set(
      client,
      ended.then(() => open.delete(client)),
    );
  });
  return {
    pool,
    async close() {
      await pool.end();
      await Promise.all(open.values());
    },
  };
}
