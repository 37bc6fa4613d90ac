import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createClient } from "../../../clients/typescript/src/client.ts";

const FILE = "/api/v1/runs/export.jsonl";
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** What the client gives of a file that comes in pieces, cut at these bytes; a text is what it throws. */
async function read(bytes: Uint8Array, cuts: readonly number[], status = 200): Promise<unknown[] | string> {
  const edges = [0, ...cuts, bytes.length];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const [index, end] of edges.slice(1).entries()) controller.enqueue(bytes.slice(edges[index], end));
      controller.close();
    },
  });
  const client = createClient({ baseUrl: "http://service.test", fetch: async () => new Response(body, { status }) });
  const found: unknown[] = [];
  try {
    for await (const run of client.lines(FILE)) found.push(run);
    return found;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

it("a file gives the same records however it comes in pieces, and is refused where it ends within a line", async () => {
  const records = fc.array(fc.record({ id: fc.string({ unit: "grapheme" }), cost_usd: fc.integer() }), {
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(records, fc.array(fc.nat(500), { maxLength: 20 }), async (runs, at) => {
      const bytes = bytesOf(runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
      const cuts = at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b);
      expect(await read(bytes, cuts)).toEqual(runs);
      const short = bytes.slice(0, -1);
      expect(
        await read(
          short,
          cuts.filter((cut) => cut < short.length),
        ),
      ).toMatch(/ended within a line/);
    }),
    { numRuns: 100 },
  );
  expect(await read(bytesOf(""), [])).toEqual([]);
  const refusal = JSON.stringify({ code: "plan_required", title: "x", detail: "Pro or higher", status: 402 });
  expect(await read(bytesOf(refusal), [], 402)).toBe("plan_required: Pro or higher");
});
