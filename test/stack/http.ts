import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

/** One HTTP request, read whole. `gone` aborts when the caller closes the connection before the answer. */
export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly gone: AbortSignal;
}

/** An answer to write. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** What a handler returns to have the connection destroyed instead of answered. */
export const CUT = Symbol("cut the connection");

/** Answers one request with a reply, or with `CUT`. A throw becomes a plain 500. */
export type Handler = (request: Request) => Promise<Reply | typeof CUT> | Reply | typeof CUT;

/** A listening server. `close` cuts what is still open and resolves when the port is free. */
export interface Listening {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
// Far above any client's own idle limit, so that no client reuses a connection while it is being closed here.
const KEEP_ALIVE_MS = 600_000;

/** A JSON reply. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** The token of an `Authorization: Bearer` header, or undefined. */
export function bearer(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

/**
 * Serves `handler` on 127.0.0.1, at `port` or a free one. Bodies up to 64 MiB, above that 413.
 * @throws the listen error, such as `EADDRINUSE`.
 */
export async function listen(handler: Handler, port = 0): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, response) => {
    void answer(handler, incoming, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a TCP port");
  const bound = address.port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(handler: Handler, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const reply = await replyTo(handler, incoming, gone.signal);
  if (reply === CUT) {
    incoming.socket.destroy();
    return;
  }
  if (response.destroyed) return;
  const body = Buffer.from(reply.body ?? "");
  response.writeHead(reply.status, { ...reply.headers, "content-length": body.length });
  response.end(body);
}

async function replyTo(handler: Handler, incoming: IncomingMessage, gone: AbortSignal): Promise<Reply | typeof CUT> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    }
  } catch {
    return CUT;
  }
  if (bytes > MAX_BODY_BYTES) return { status: 413 };
  try {
    return await handler({
      method: incoming.method ?? "GET",
      url: new URL(incoming.url ?? "/", "http://127.0.0.1"),
      headers: incoming.headers,
      body: Buffer.concat(chunks, bytes),
      gone,
    });
  } catch (error) {
    return { status: 500, headers: { "content-type": "text/plain" }, body: String(error) };
  }
}
