import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type Message, messagesOf } from "../../../clients/typescript/src/server-sent-events.ts";

async function read(chunks: readonly Uint8Array[]): Promise<Message[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const found: Message[] = [];
  for await (const message of messagesOf(body)) found.push(message);
  return found;
}

const TEXT = [
  ': a comment\n\nid: 1\nevent: phase\ndata: {"a":\ndata: 1}\n\n',
  "event:run\r\ndata:ümläut — 日本\r\n\r\n",
  "event: nothing\n\nid: 3\rdata: x: y\r\r",
  "retry: 5\nid\ndata\n\ndata: cut off",
].join("");

it("an event stream means the same however it comes in pieces: fields, comments, line ends and all", async () => {
  const expected: Message[] = [
    { id: "1", event: "phase", data: '{"a":\n1}' },
    { id: "1", event: "run", data: "ümläut — 日本" },
    { id: "3", event: "message", data: "x: y" },
    { id: "", event: "message", data: "" },
  ];
  const bytes = new TextEncoder().encode(TEXT);
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
      expect(await read(chunks)).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});
