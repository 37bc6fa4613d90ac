import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context } from "../../../shared/platform/context.ts";
import { integrate } from "../../../shared/transparency/integrate.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Crash, crashAtEach } from "../runs/crash-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addEntries, forge, reader, signNote } from "./support.ts";
import { audit, type Get, openCheckpoint } from "./verifier.ts";

const MINUTE = "* * * * *";

let service: TestService;
let ctx: Context;
let get: Get;
let vkey: string;
/** Every checkpoint that was met, in no order. */
const met: string[] = [];

beforeAll(async () => {
  service = await startService({ stripe: true });
  ctx = contextOf(service, () => new Date());
  get = reader(service);
  vkey = (await get("key")).toString();
});

afterAll(() => service.stop());

async function checkpoint(): Promise<string> {
  const note = (await get("checkpoint")).toString();
  met.push(note);
  return note;
}

const sizeOf = (note: string) => openCheckpoint(note, vkey).size;

describe("the log", () => {
  it("is empty at first and says so", async () => {
    await expect(get("checkpoint")).rejects.toThrow("404");
    await expect(get("tile/0/000")).rejects.toThrow("404");
  });

  it("has each key that signs after two minutes, and what waits after one, in its order", async () => {
    await service.app.scheduled(MINUTE);
    await service.app.scheduled(MINUTE);
    await service.app.scheduled(MINUTE);
    const { keys } = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    const isOfSuite = (entry: string) => entry.startsWith('{"kind":"suite",');
    const said = await audit(get, vkey, [await checkpoint()]);
    expect(said.filter((entry) => !isOfSuite(entry))).toEqual(
      keys.map(({ kid }) => JSON.stringify({ kid, kind: "key" })),
    );
    const [suites] = await service.sql<{ n: number }>("select count(*)::integer as n from suites");
    expect(said.filter(isOfSuite).length).toBe(suites?.n);
    await addEntries(service, 300);
    await service.app.scheduled(MINUTE);
    const rows = await service.sql<{ entry: string }>(
      "select convert_from(entry, 'UTF8') as entry from log_entries order by id",
    );
    expect(await audit(get, vkey, [await checkpoint(), ...met])).toEqual(rows.map(({ entry }) => entry));
  });

  it("is called as where it is reached, and is signed by a key of its own", async () => {
    const { origin } = openCheckpoint(await checkpoint(), vkey);
    expect(`http://${origin}`).toBe(`${service.settings["BASE_URL"]}/log`);
    const { keys } = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as { keys: { x: string }[] };
    const own = Buffer.from(vkey.trim().split("+").slice(2).join("+"), "base64").subarray(1).toString("base64url");
    expect(keys.map(({ x }) => x)).not.toContain(own);
  });

  it.each([
    ["checkpoint", /max-age=[1-5]$/, "text/plain; charset=utf-8"],
    ["tile/0/000", /max-age=31536000, immutable/, "application/octet-stream"],
    ["tile/0/000.p/7", /max-age=31536000, immutable/, "application/octet-stream"],
    ["tile/entries/000", /max-age=31536000, immutable/, "application/octet-stream"],
  ])("serves %s to be kept as long as it holds", async (path, cache, type) => {
    const { headers } = await fetch(`${service.url}/log/${path}`);
    expect(headers.get("cache-control")).toMatch(cache);
    expect(headers.get("content-type")).toBe(type);
  });

  it("does not serve a part of itself that it has not yet, nor one by another name", async () => {
    const size = sizeOf(await checkpoint());
    await addEntries(service, 1);
    const width = (size % 256) + 1;
    for (const path of [`0/001.p/${width}`, `entries/001.p/${width}`, "0/000.p/256", "entries/002", "4/000"])
      await expect(get(`tile/${path}`), path).rejects.toThrow("404");
    for (const path of ["0/00", "0/001/002", "x/000"]) await expect(get(`tile/${path}`), path).rejects.toThrow("422");
  });

  it("takes two round trips for a batch, and one where nothing waits", async () => {
    await addEntries(service, 700);
    for (const trips of [2, 1]) {
      const before = service.counters.db.requests;
      await integrate(ctx);
      expect(service.counters.db.requests - before).toBe(trips);
    }
  });

  it("stays one line under twenty sequencers at once, while entries come", async () => {
    const before = await checkpoint();
    const start = sizeOf(before);
    for (let round = 0; round < 5; round += 1) {
      await addEntries(service, 60);
      const working = Array.from({ length: 20 }, () => integrate(ctx));
      const coming = Array.from({ length: 4 }, () => addEntries(service, 5));
      const [placed] = await Promise.all([Promise.all(working), Promise.all(coming), checkpoint()]);
      expect(placed.filter((count) => count > 0).length).toBeGreaterThan(0);
      await checkpoint();
    }
    await integrate(ctx);
    expect(sizeOf(await checkpoint())).toBe(start + 5 * 80);
    await audit(get, vkey, met);
  });

  it.each<Crash>(["error", "down", "lost"])(
    "only grows when the sequencer ends by %s after any of its steps",
    async (crash) => {
      const steps = await crashAtEach(service, crash, {
        async arrange() {
          await addEntries(service, 40);
          return sizeOf(await checkpoint());
        },
        work: () => integrate(ctx),
        async check(before) {
          expect(sizeOf(await checkpoint())).toBeGreaterThanOrEqual(before);
          await integrate(ctx);
          const [waiting] = await service.sql<{ count: string }>(
            "select count(*) from log_entries where position is null",
          );
          expect(waiting?.count).toBe("0");
          expect(sizeOf(await checkpoint())).toBeGreaterThanOrEqual(before + 40);
          await audit(get, vkey, met);
        },
      });
      expect(steps).toBeGreaterThanOrEqual(2);
    },
  );
});

describe("the verifier, which shares no code with the service", () => {
  const replaced =
    (path: RegExp, change: (bytes: Buffer) => Buffer): Get =>
    async (asked) =>
      path.test(asked) ? change(await get(asked)) : get(asked);
  const flip = (at: number) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const stranger = JSON.stringify(generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }));
  const own = () => service.settings["LOG_SIGNING_KEY"] ?? "";
  const resigned = (jwk: string, change: (lines: string[]) => string[]) =>
    replaced(/^checkpoint$/, (bytes) => {
      const [origin = "", size = "", root = ""] = bytes.toString().split("\n");
      return Buffer.from(signNote(`${change([origin, size, root]).join("\n")}\n`, jwk, origin));
    });
  const forged = async (change: (entries: string[]) => string[]) =>
    forge(change(await audit(get, vkey)), own(), openCheckpoint(await checkpoint(), vkey).origin);

  it("accepts the log as it is, and the same log published by the owner of its key", async () => {
    const entries = await audit(get, vkey, met);
    expect(await audit(await forged((all) => all), vkey, met)).toEqual(entries);
  });

  it.each<[string, () => Get | Promise<Get>, RegExp]>([
    ["a changed entry", () => replaced(/entries\/000/, flip(9)), /do not lead to the root/],
    [
      "a dropped entry",
      () => replaced(/entries\/000/, (all) => all.subarray(2 + all.readUInt16BE(0))),
      /entries for a size/,
    ],
    [
      "a repeated entry",
      () => replaced(/entries\/000/, (all) => Buffer.concat([all, all.subarray(0, 2 + all.readUInt16BE(0))])),
      /entries for a size/,
    ],
    ["a changed hash of a leaf", () => replaced(/tile\/0\/000/, flip(40)), /tiles of level 0/],
    ["a changed hash above", () => replaced(/tile\/1\/000/, flip(3)), /tiles of level 1/],
    ["a bundle that is cut off", () => replaced(/entries\/001/, (all) => all.subarray(0, -1)), /./],
    [
      "another size",
      () => replaced(/^checkpoint$/, (note) => Buffer.from(note.toString().replace(/\n\d+\n/, "\n9\n"))),
      /signature/,
    ],
    [
      "another size that is signed",
      () => resigned(own(), ([origin = "", , root = ""]) => [origin, "300", root]),
      /do not lead to the root/,
    ],
    ["another key", () => resigned(stranger, (lines) => lines), /did not sign/],
    [
      "the checkpoint of another log",
      () => resigned(own(), ([, size = "", root = ""]) => ["example.org/log", size, root]),
      /another log/,
    ],
    ["a fork that fits together", () => forged(([, ...rest]) => ['{"kind":"forged"}', ...rest]), /forked/],
    ["a history without one entry, that fits together", () => forged((all) => all.toSpliced(100, 1)), /shrank|forked/],
    [
      "two entries in another order, that fits together",
      () => forged(([a = "", b = "", ...rest]) => [b, a, ...rest]),
      /forked/,
    ],
    ["a log that went back", () => forged((all) => all.slice(0, 400)), /shrank/],
  ])("refuses %s", async (_what, tampered, reason) => {
    await expect(audit(await tampered(), vkey, met)).rejects.toThrow(reason);
  });
});
