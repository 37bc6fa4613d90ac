import { once } from "node:events";
import { createServer } from "node:net";
import * as z from "zod";

const NAME = /\bservice$/;
const Targets = z.array(z.object({ webSocketDebuggerUrl: z.string() }));
const Answer = z.object({
  id: z.int(),
  result: z.looseObject({ usedSize: z.number().optional(), backingStorageSize: z.number().default(0) }).optional(),
});

/** A port that is free now, for the inspector. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("there is no port");
  return address.port;
}

/**
 * Kilobytes of the Worker's heap, and of buffers beside it, that are in use once all garbage is collected, asked of the
 * inspector on this port. What the process takes beyond that is garbage that the engine has not collected yet, and room that it keeps.
 */
export async function liveHeap(port: number): Promise<number> {
  const targets = Targets.parse(await (await fetch(`http://127.0.0.1:${port}/json`)).json());
  const target = targets.find(({ webSocketDebuggerUrl }) => NAME.test(webSocketDebuggerUrl));
  if (target === undefined) throw new Error("the inspector does not know the Worker");
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, "open");
  const waiting = new Map<number, (used: number | undefined) => void>();
  socket.addEventListener("message", ({ data }) => {
    const answer = Answer.safeParse(JSON.parse(String(data))).data;
    if (answer === undefined) return;
    const { usedSize, backingStorageSize = 0 } = answer.result ?? {};
    waiting.get(answer.id)?.(usedSize === undefined ? undefined : usedSize + backingStorageSize);
  });
  const ask = (id: number, method: string): Promise<number | undefined> => {
    const answered = new Promise<number | undefined>((resolve) => void waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params: {} }));
    return answered;
  };
  try {
    await ask(1, "HeapProfiler.enable");
    await ask(2, "HeapProfiler.collectGarbage");
    const used = await ask(3, "Runtime.getHeapUsage");
    if (used === undefined) throw new Error("the inspector does not say how much of the heap is used");
    return used / 1024;
  } finally {
    socket.close();
  }
}
