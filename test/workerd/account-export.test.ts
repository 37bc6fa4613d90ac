import { expect, it } from "vitest";
import { makeZip } from "client-zip";
import { streamed } from "../../shared/http/stream.ts";
import { unzip } from "../stack/unzip.ts";

const LINES = ["first\n", "second\n", "žlutý\n"];

async function* lines() {
  yield* LINES;
}

it("a ZIP file is made of pieces as they come, in the runtime of production", async () => {
  const files = [
    { name: "profile.json", input: "{}\n" },
    { name: "runs.jsonl", input: lines() },
    { name: "none.jsonl", input: (async function* (): AsyncGenerator<string> {})() },
  ];
  const zip = streamed({ log: { error: () => undefined } as never }, () => makeZip(files)[Symbol.asyncIterator]());
  const found = unzip(Buffer.from(await new Response(zip).arrayBuffer()));
  expect([...found]).toEqual([
    ["profile.json", "{}\n"],
    ["runs.jsonl", LINES.join("")],
    ["none.jsonl", ""],
  ]);
});
