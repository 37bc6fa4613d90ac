import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { follow, LogFault } from "../../../clients/cli/src/log-follow.ts";
import { append, EMPTY, rootOf, type Tree } from "../../../shared/tlog/append.ts";
import { encodeBundle } from "../../../shared/tlog/bundle.ts";
import { checkpointText } from "../../../shared/tlog/checkpoint.ts";
import { leafHash } from "../../../shared/tlog/hash.ts";
import { signatureLine, verifierKey } from "../../../shared/tlog/note.ts";
import { parseTilePath, TILE_WIDTH } from "../../../shared/tlog/tile.ts";

const BASE = "http://service.test";
const ENTRIES = Array.from({ length: 5 * TILE_WIDTH + 3 }, (_, at) => Buffer.from(`{"n":${at}}`));
const { tree: TREE, grown: TILES } = append(EMPTY, ENTRIES.map(leafHash));

/** The key of a log, the checkpoint that it signed, and how it signs one of other entries. */
function logOf(name: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = { name, publicKey: publicKey.export({ type: "spki", format: "der" }).subarray(-32) };
  const signed = (tree: Tree): string => {
    const text = checkpointText({ origin: name, size: tree.size, root: rootOf(tree) });
    return `${text}\n${signatureLine(key, sign(null, Buffer.from(text), privateKey))}`;
  };
  return { key, note: signed(TREE), signed };
}
const LOG = logOf("service.test/log");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "log-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A log's answer to a path under `/log/`. */
function answer(path: string, { key, note }: Pick<typeof LOG, "key" | "note"> = LOG): Response {
  if (path === "key") return new Response(verifierKey(key));
  if (path === "checkpoint") return new Response(note);
  const { level, index, width } = parseTilePath(path.replace(/^tile\//, "")) ?? { level: 0, index: 0, width: 0 };
  if (level !== "entries") {
    const hashes = TILES.find((tile) => tile.level === level && tile.index === index)?.hashes ?? [];
    if (hashes.length < width) return new Response(null, { status: 404 });
    return new Response(Uint8Array.from(Buffer.concat(hashes.slice(0, width))));
  }
  return new Response(encodeBundle(ENTRIES.slice(index * TILE_WIDTH, (index + 1) * TILE_WIDTH)));
}

it("a log is read through its service's rate limit, by the pauses that it asks for", async () => {
  const waits: number[] = [];
  let left = 3;
  const found = await follow(BASE, join(folder, "state.json"), {
    send: async ({ url }) => {
      if (left-- > 0) return answer(url.slice(`${BASE}/log/`.length));
      return new Response(null, { status: 429, headers: { "retry-after": "50" } });
    },
    sleep: async (ms) => {
      waits.push(Math.floor(ms / 1000));
      left = 3;
    },
  });
  expect(found).toMatchObject({ size: ENTRIES.length, entries: { length: ENTRIES.length } });
  expect(waits).toEqual([50, 50]);
});

it("a service without an answer is told as everywhere", async () => {
  await expect(
    follow("http://127.0.0.1:1", join(folder, "none.json"), { sleep: async () => undefined }),
  ).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1 does not answer: .*\nIs it running/);
});

it("what was seen of one service's log is not held against another's", async () => {
  const file = join(folder, "one.json");
  const asked = (base: string, log = LOG) =>
    follow(base, file, { send: async ({ url }) => answer(url.slice(`${base}/log/`.length), log) });
  await asked(BASE);
  const kept = readFileSync(file, "utf8");
  const other = logOf("other.test/log");
  await expect(asked("http://other.test", other)).rejects.toMatchObject({
    exit: 2,
    message: `${file} is of the log of ${BASE}, which this is not: name another file for http://other.test.`,
  });
  expect(readFileSync(file, "utf8")).toBe(kept);
  await expect(asked(BASE, other)).rejects.toBeInstanceOf(LogFault);
  expect(await asked("http://mirror.test")).toMatchObject({ size: ENTRIES.length, entries: [] });
});

it.each([
  ["is no JSON", "{"],
  ["is JSON of something else", '{"base":1}'],
  ["has a key that is none", JSON.stringify({ base: BASE, key: "none", size: 0, edge: [] })],
])("a file that %s is said to be damaged, which is not a fault of the log, and stays", async (_what, text) => {
  const file = join(folder, "damaged.json");
  writeFileSync(file, text);
  const found = follow(BASE, file, { send: async ({ url }) => answer(url.slice(`${BASE}/log/`.length)) });
  await expect(found).rejects.toMatchObject({ exit: 2, message: expect.stringContaining(`${file} can't be gone by`) });
  expect(readFileSync(file, "utf8")).toBe(text);
});

it("a file that can't be written is named", async () => {
  const file = join(folder, "no/folder.json");
  const found = follow(BASE, file, { send: async ({ url }) => answer(url.slice(`${BASE}/log/`.length)) });
  await expect(found).rejects.toMatchObject({ exit: 2, message: expect.stringContaining(`kept in ${file}`) });
});

const grownTo = (entries: readonly Buffer[]): Tree => append(EMPTY, entries.map(leafHash)).tree;

/** What follows the log that is served with `note` for its checkpoint, when `seen` has been seen of it. */
function next(note: string, seen: Tree = TREE, send = async (path: string) => answer(path, { ...LOG, note })) {
  const file = join(folder, "seen.json");
  const edge = seen.edge.map((hash) => hash.toString("base64"));
  const state = JSON.stringify({ base: BASE, key: verifierKey(LOG.key), size: seen.size, edge });
  writeFileSync(file, state);
  const found = follow(BASE, file, { send: ({ url }) => send(url.slice(`${BASE}/log/`.length)) });
  return found.finally(() => expect(readFileSync(file, "utf8")).toBe(state));
}

it.each([0, 1, 255, 256, 257, ENTRIES.length - 1])(
  "an older checkpoint, of %i entries, that a cache still has is no log that shrank",
  async (size) => {
    const older = LOG.signed(grownTo(ENTRIES.slice(0, size)));
    expect(await next(older)).toEqual({ origin: LOG.key.name, size: ENTRIES.length, entries: [] });
  },
);

it.each<[what: string, note: string, seen: Tree]>([
  ["of other entries", LOG.signed(grownTo(ENTRIES.slice(1, 300))), TREE],
  ["of a log that lacks what was seen", LOG.note, grownTo([...ENTRIES, Buffer.from("{}")])],
])("an older checkpoint %s is one of a log that shrank", async (_what, note, seen) => {
  await expect(next(note, seen)).rejects.toSatisfy(
    (error) => error instanceof LogFault && /shrank/.test(error.message),
  );
});

it("an older checkpoint is not held against a log that can't be read for now", async () => {
  const older = LOG.signed(grownTo(ENTRIES.slice(0, 9)));
  const away = async (path: string) =>
    path === "checkpoint" ? new Response(older) : new Response(null, { status: 403 });
  await expect(next(older, TREE, away)).rejects.toThrow(/answers 403$/);
});

it.each([1, 10])("a bundle that lacks its last %i bytes is a fault of the log, not of the way to it", async (lost) => {
  const found = follow(BASE, join(folder, "cut.json"), {
    send: async ({ url }) => {
      const given = answer(url.slice(`${BASE}/log/`.length));
      return url.endsWith("entries/000") ? new Response((await given.arrayBuffer()).slice(0, -lost)) : given;
    },
  });
  await expect(found).rejects.toBeInstanceOf(LogFault);
});
