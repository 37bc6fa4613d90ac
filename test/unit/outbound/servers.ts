import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** A server on loopback that lives as long as its scope: `await using`. */
export interface LoopbackServer extends AsyncDisposable {
  port: number;
  url(path?: string): string;
  /** How often a client connected. */
  connections(): number;
}

/** An HTTP server whose every answer `handle` writes. */
export function httpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LoopbackServer> {
  return listen(createHttpServer(handle), "http");
}

/** A server that says what `talk` says, HTTP or not. */
export function tcpServer(talk: (socket: Socket) => void, scheme: "http" | "https" = "http"): Promise<LoopbackServer> {
  return listen(createTcpServer(talk), scheme);
}

/** A TLS server without a certificate: no handshake with it can succeed. */
export function uncertifiedServer(): Promise<LoopbackServer> {
  return listen(createTlsServer(), "https");
}

/** A port on loopback where nobody listens. */
export async function freePort(): Promise<number> {
  await using server = await tcpServer(() => undefined);
  return server.port;
}

async function listen(server: Server, scheme: "http" | "https"): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    // A client that gives up in the middle is what these servers are for.
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not a TCP server");
  const { port } = address;
  return {
    port,
    url: (path = "/") => `${scheme}://127.0.0.1:${port}${path}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
