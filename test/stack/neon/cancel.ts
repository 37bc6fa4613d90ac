import { connect } from "node:net";
import type { ClientBase } from "pg";
import * as z from "zod";

/** What a client knows of its connection, which its types leave out in part. */
const Connected = z.object({ host: z.string(), port: z.int(), processID: z.int(), secretKey: z.int() });

const CANCEL_REQUEST = 80_877_102;

/**
 * Asks the server to cancel the statement that a client waits for: https://www.postgresql.org/docs/18/protocol-flow.html,
 * "Canceling Requests in Progress". It may come too late, or find nothing.
 */
export function cancelStatement(client: ClientBase): void {
  const { host, port, processID, secretKey } = Connected.parse(client);
  const packet = Buffer.alloc(16);
  for (const [index, value] of [packet.length, CANCEL_REQUEST, processID, secretKey].entries()) {
    packet.writeInt32BE(value, index * 4);
  }
  connect(port, host)
    .on("error", () => undefined)
    .end(packet);
}
