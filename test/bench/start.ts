import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";
import { SIZES, sizes, valuesOf } from "../commands/bundle.ts";
import { type Figure, median, spreadOf } from "./measure.ts";
import { startBare } from "./workerd.ts";

const ROUNDS = 7;
const ROUNDS_OF_A_GROUP = 3;
const ONE_LINE = 'export default { fetch: () => new Response("hello") };';
const ANY_ID = "01938e7a-0000-7000-8000-000000000003";

/** Nothing is behind the service: what its requests ask for is refused at once. */
const NOWHERE = "http://127.0.0.1:9";

/** The table of all methods and paths; pages are JSX, which Node does not read by itself. */
const Places = z.object({
  PLACES: z.array(z.object({ group: z.string(), method: z.string(), path: z.string() })),
});

/** What a start takes: sizes, time in Node and in workerd, and what the first request of each group takes more. */
export async function startFigures(entry: string): Promise<Figure[]> {
  const folder = dirname(entry);
  const { atStart, all } = sizes(folder);
  return [
    { name: "loaded at start, gzip", value: atStart, unit: "KB", kind: "most", budget: SIZES.atStart },
    { name: "bundle, gzip", value: all, unit: "KB", kind: "most", budget: SIZES.all },
    inNode(entry),
    ...(await inWorkerd(entry)),
  ];
}

function inNode(entry: string): Figure {
  const text = `const t=performance.now();await import(${JSON.stringify(entry)});console.log(performance.now()-t)`;
  const starts = Array.from({ length: ROUNDS }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" })),
  );
  return {
    name: "start in Node",
    value: median(starts),
    unit: "ms",
    kind: "most",
    budget: 70,
    spread: spreadOf(starts),
    against: "an empty module",
  };
}

async function inWorkerd(entry: string): Promise<Figure[]> {
  const settings = {
    ...DEVELOPMENT,
    ...(await newSecrets()),
    BASE_URL: NOWHERE,
    FRONTEND_URL: NOWHERE,
    DATABASE_URL: "postgres://nobody@127.0.0.1:9/nothing",
    UPSTASH_REDIS_REST_URL: NOWHERE,
    QSTASH_URL: NOWHERE,
    DNS_RESOLVER_URL: NOWHERE,
  };
  const folder = mkdtempSync(join(tmpdir(), "one-line-"));
  const oneLine = join(folder, "index.js");
  writeFileSync(oneLine, ONE_LINE);
  const beyond: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const bare = await startBare(oneLine, settings);
      await bare.stop();
      const service = await startBare(entry, settings);
      await service.stop();
      beyond.push(service.started - bare.started);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const started: Figure = {
    name: "start in workerd",
    value: median(beyond),
    unit: "ms",
    kind: "most",
    budget: 100,
    spread: spreadOf(beyond),
    against: "a one-line Worker with the same flags",
  };
  return [started, await dearestGroup(entry, settings)];
}

/** What the first request of a group takes beyond its second, for the group where that is most. */
async function dearestGroup(entry: string, settings: Record<string, string>): Promise<Figure> {
  const figures: Figure[] = [];
  const { PLACES } = Places.parse(await valuesOf("functions/places.static.ts"));
  for (const [name, places] of Map.groupBy(PLACES, ({ group }) => group)) {
    const asked = places.find(({ method }) => method === "get") ?? places[0];
    if (asked === undefined) continue;
    const [method, path] = [asked.method.toUpperCase(), asked.path.replaceAll(/\{\w+\}/g, ANY_ID)];
    const beyond: number[] = [];
    for (let round = 0; round < ROUNDS_OF_A_GROUP; round += 1) {
      const service = await startBare(entry, settings);
      try {
        // The first request of all pays for the service itself, and for what it finds of its stores.
        await service.ask("GET", "/readyz");
        const first = await service.ask(method, path);
        beyond.push(first - (await service.ask(method, path)));
      } finally {
        await service.stop();
      }
    }
    figures.push({
      name: `first request of the group ${name}`,
      value: median(beyond),
      unit: "ms",
      kind: "most",
      budget: 30,
      spread: spreadOf(beyond),
      against: "its second",
    });
  }
  const dearest = figures.toSorted((a, b) => b.value - a.value)[0];
  if (dearest === undefined) throw new Error("there are no groups");
  return { ...dearest, name: `${dearest.name}, the dearest of ${figures.length}` };
}
