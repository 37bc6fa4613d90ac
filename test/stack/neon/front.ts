import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type ClientBase, DatabaseError, type PoolClient, type QueryArrayConfig } from "pg";
import * as z from "zod";
import type { Counters } from "../counters.ts";
import type { Faults } from "../faults.ts";
import { json, listen, type Listening, type Reply, type Request } from "../http.ts";
import { NEON } from "../limits.ts";
import { cancelStatement } from "./cancel.ts";
import { type Connections, openPool } from "./connections.ts";

const Statement = z.object({ query: z.string(), params: z.array(z.unknown()).default([]) });
const Batch = z.object({ queries: z.array(Statement) });
const Body = z.union([Batch, Statement]);
type Statement = z.infer<typeof Statement>;
type Work = z.infer<typeof Body>;

const ISOLATION: Readonly<Record<string, string>> = {
  ReadUncommitted: "read uncommitted",
  ReadCommitted: "read committed",
  RepeatableRead: "repeatable read",
  Serializable: "serializable",
};

// What the driver copies from an error's body to its NeonDbError.
const ERROR_FIELDS = [
  "message",
  "severity",
  "code",
  "detail",
  "hint",
  "position",
  "internalPosition",
  "internalQuery",
  "where",
  "schema",
  "table",
  "column",
  "dataType",
  "constraint",
  "file",
  "line",
  "routine",
] as const;

/** https://github.com/neondatabase/neon/blob/main/proxy/src/serverless/sql_over_http.rs, "SqlOverHttpError::Cancelled" */
const CANCELLED = "Query cancelled, connection was terminated";

/** Statements that leave nothing on their connection, as nearly all do: no setting, and nothing prepared. */
const LEAVES_NOTHING = /^\s*(?:select|with|insert|update|delete|merge)\b(?![^]*\bset_config\b)/i;

const POOL_SIZE = 40;
const CLOSE_MS = 1_000;

/** A request that the front itself refuses, with the status that Neon answers. */
class Refusal extends Error {
  readonly status: number;
  constructor(message: string, status = 400, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/**
 * Serves the protocol of Neon's serverless driver over HTTP, `POST /sql`, in front of a PostgreSQL server: one
 * statement, or a batch in one transaction. Values are the server's text, rows are arrays. What a caller that leaves early
 * still waited for is cancelled, a batch whole, as Neon's proxy does it (`CANCELLED`). Point a driver here by `neonConfig.fetchEndpoint = () => url + "/sql"`.
 * @param options.resolve gives the URL to connect to for the database that the driver's connection string names; the
 * host, user and password of that string play no part.
 * @throws the listen error, such as `EADDRINUSE`.
 */
export async function startNeonFront(options: {
  resolve: (database: string) => string;
  faults: Faults;
  counters: Counters;
  port?: number | undefined;
}): Promise<Listening> {
  const { resolve, faults, counters } = options;
  const pools = new Map<string, Connections>();

  function connect(database: string) {
    const url = resolve(database);
    const known = pools.get(url);
    if (known !== undefined) return known.pool.connect();
    const opened = openPool({ connectionString: url, max: POOL_SIZE, types: { getTypeParser: () => String } });
    pools.set(url, opened);
    return opened.pool.connect();
  }

  async function execute(client: ClientBase, { query, params }: Statement): Promise<unknown> {
    counters.db.statements += 1;
    const statement: QueryArrayConfig & { queryMode: "extended" } = {
      text: query,
      values: params,
      rowMode: "array",
      queryMode: "extended",
    };
    const { command, rowCount, rows, fields } = await client.query(statement);
    return { command, rowCount, rows, fields, rowAsArray: true };
  }

  async function executeAll(
    client: ClientBase,
    { statements, begin, gone }: { statements: Statement[]; begin: string; gone: AbortSignal },
  ): Promise<unknown> {
    const results: unknown[] = [];
    await client.query(begin);
    try {
      for (const statement of statements) {
        if (gone.aborted) throw new Refusal(CANCELLED, 500);
        results.push(await execute(client, statement));
      }
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
    return { results };
  }

  async function sql({ headers, body, gone }: Request): Promise<Reply> {
    if (body.length > NEON.requestBytes) {
      throw new Refusal(`request is too large (max is ${NEON.requestBytes} bytes)`, 413);
    }
    const work = parse(body);
    const begin = beginning(headers);
    const client = await connect(databaseOf(headers));
    const cancel = (): void => cancelStatement(client);
    let broken = true;
    try {
      if (gone.aborted) throw new Refusal(CANCELLED, 500);
      gone.addEventListener("abort", cancel, { once: true });
      const result = await ("queries" in work
        ? executeAll(client, { statements: work.queries, begin, gone })
        : execute(client, work));
      broken = false;
      const reply = json(200, result);
      if (Buffer.byteLength(reply.body ?? "") > NEON.responseBytes) {
        throw new Refusal(`response is too large (max is ${NEON.responseBytes} bytes)`, 507);
      }
      return reply;
    } catch (error) {
      broken = !(error instanceof Refusal || (error instanceof DatabaseError && error.severity === "ERROR"));
      throw error;
    } finally {
      gone.removeEventListener("abort", cancel);
      // A cancellation that comes late would end what the connection does next.
      void giveBack(client, work, broken || gone.aborted);
    }
  }

  /** Cleans a connection after its answer, where it has to be, and gives it back. */
  async function giveBack(client: PoolClient, work: Work, broken: boolean): Promise<void> {
    const statements = "queries" in work ? work.queries : [work];
    if (!broken && statements.every(({ query }) => LEAVES_NOTHING.test(query))) return client.release();
    const cleaned = broken
      ? false
      : await client.query(NEON.reset).then(
          () => true,
          () => false,
        );
    client.release(!cleaned);
  }

  const faulty = faults.around("db", (request) => sql(request).catch(failure));
  const server = await listen((request) => {
    if (request.method !== "POST" || request.url.pathname !== "/sql") return { status: 404 };
    counters.db.requests += 1;
    return faulty(request);
  }, options.port);

  return {
    ...server,
    async close() {
      await server.close();
      // A statement that could not be cancelled keeps its connection until the server itself stops.
      const closed = Promise.all([...pools.values()].map(({ close }) => close()));
      await Promise.race([closed, delay(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

function parse(body: Buffer): Work {
  try {
    return Body.parse(JSON.parse(body.toString()));
  } catch (error) {
    throw new Refusal("the body must be JSON with query and params, or queries", 400, { cause: error });
  }
}

function databaseOf(headers: IncomingHttpHeaders): string {
  const url = URL.parse(one(headers, "neon-connection-string") ?? "");
  const database = decodeURIComponent(url?.pathname.slice(1) ?? "");
  if (database === "") throw new Refusal("Neon-Connection-String must be a URL that names a database");
  return database;
}

/** The statement that opens a batch, with the server's defaults for what the headers leave open. */
function beginning(headers: IncomingHttpHeaders): string {
  const isolation = one(headers, "neon-batch-isolation-level");
  const modes: string[] = [];
  if (isolation !== undefined) {
    const level = ISOLATION[isolation];
    if (level === undefined) throw new Refusal(`unknown isolation level ${isolation}`);
    modes.push(`isolation level ${level}`);
  }
  const readOnly = one(headers, "neon-batch-read-only");
  if (readOnly !== undefined) modes.push(readOnly === "true" ? "read only" : "read write");
  const deferrable = one(headers, "neon-batch-deferrable");
  if (deferrable !== undefined) modes.push(deferrable === "true" ? "deferrable" : "not deferrable");
  return `begin ${modes.join(", ")}`;
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** Errors of the database and of the request are 400 with what is known of them; all else is the front's own 500. */
function failure(error: unknown): Reply {
  if (error instanceof DatabaseError) {
    return json(400, Object.fromEntries(ERROR_FIELDS.map((field) => [field, error[field] ?? null])));
  }
  return json(error instanceof Refusal ? error.status : 500, { message: String(error) });
}
