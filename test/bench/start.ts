import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";
import { SIZES, sizes, valuesOf } from "../commands/bundle.ts";
import { type Figure, measured, median } from "./measure.ts";
import { NOTHING, startBare } from "./workerd.ts";

const ROUNDS = 7;
/** How many groups are asked more than once, and how often. */
const DEAREST = 8;
const ROUNDS_OF_A_GROUP = 5;
/**
 * What a one-line Worker takes to its first answer on the machine that the budgets were made for, in milliseconds: a start
 * reads files and maps memory, which can be several times slower while other work is as fast as ever, so that these figures
 * are judged at the pace of such starts.
 */
const ONE_LINE_MS = { Node: 38, workerd: 55 };
const ONE_LINE = 'export default { fetch: () => new Response("hello") };';
const ANY_ID = "01938e7a-0000-7000-8000-000000000003";

/** Nothing is behind the service: what its requests ask for is refused at once. */
const NOWHERE = "http://127.0.0.1:9";

const Table = z.array(z.object({ group: z.string(), method: z.string(), path: z.string() }));
/** The tables of all methods and paths; pages are JSX, which Node does not read by itself. */
const Places = z.object({ PLACES: Table, PAGE_PLACES: Table });

/** What a start takes: sizes, time in Node and in workerd, and what the first request of each group takes more. */
export async function startFigures(entry: string): Promise<Figure[]> {
  const { atStart, all } = sizes(dirname(entry));
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
  // Node takes a module for what it is without a second look.
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  try {
    const inNode = await started("Node", 70, entry, oneLine, (module) => startedInNode(module, settings));
    const inWorkerd = await started("workerd", 100, entry, oneLine, async (module) => {
      const worker = await startBare(module, settings);
      await worker.stop();
      return worker.started;
    });
    return [
      { name: "loaded at start, gzip", value: atStart, unit: "KB", kind: "most", budget: SIZES.atStart },
      { name: "bundle, gzip", value: all, unit: "KB", kind: "most", budget: SIZES.all },
      inNode,
      inWorkerd,
      { ...(await dearestGroup(entry, settings)), pace: inWorkerd.pace },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** How much later than a one-line Worker the service has given its first answer, to a path that neither has. */
async function started(
  where: keyof typeof ONE_LINE_MS,
  budget: number,
  entry: string,
  oneLine: string,
  start: (module: string) => number | Promise<number>,
): Promise<Figure & { pace: number }> {
  const [bare, beyond]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const base = await start(oneLine);
    bare.push(base);
    beyond.push((await start(entry)) - base);
  }
  const usual = median(bare);
  const against = `a one-line Worker's ${usual.toFixed(0)} ms, subtracted; to the end of the first answer`;
  const pace = Math.max(1, usual / ONE_LINE_MS[where]);
  return { name: `start in ${where}`, ...measured(beyond), unit: "ms", kind: "most", budget, against, pace };
}

/** Milliseconds that a Worker's module takes in a Node of its own, from its import to the end of its first answer. */
function startedInNode(module: string, settings: Readonly<Record<string, string>>): number {
  const text = `const begun = performance.now();
    const { default: worker } = await import(${JSON.stringify(module)});
    const execution = { waitUntil() {}, passThroughOnException() {}, props: {} };
    const request = new Request(${JSON.stringify(`${NOWHERE}${NOTHING}`)});
    await (await worker.fetch(request, ${JSON.stringify(settings)}, execution)).text();
    console.log(performance.now() - begun);
    process.exit();`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" }));
}

/**
 * What the first request of a group of endpoints or pages takes beyond its second, for the group where that is most. It is
 * the first to that Worker after one for a path that nobody has. Each is asked once, and those that took longest some more
 * times, since a single round can only take too long, not too short.
 */
async function dearestGroup(entry: string, settings: Record<string, string>): Promise<Figure> {
  const { PLACES, PAGE_PLACES } = Places.parse(await valuesOf("functions/places.static.ts"));
  const groups = Map.groupBy([...PLACES, ...PAGE_PLACES], ({ group }) => group);
  const found = new Map<string, number[]>();
  const askOnce = async (group: string): Promise<void> => {
    const places = groups.get(group) ?? [];
    const asked = places.find(({ method }) => method === "get") ?? places[0];
    if (asked === undefined) return;
    const [method, path] = [asked.method.toUpperCase(), asked.path.replaceAll(/\{\w+\}/g, ANY_ID)];
    const service = await startBare(entry, settings);
    try {
      const first = await service.ask(method, path);
      found.set(group, [...(found.get(group) ?? []), first - (await service.ask(method, path))]);
    } finally {
      await service.stop();
    }
  };
  for (const group of groups.keys()) await askOnce(group);
  const byTime = () => [...found].toSorted(([, a], [, b]) => median(b) - median(a));
  const dearest = byTime()
    .slice(0, DEAREST)
    .map(([group]) => group);
  for (let round = 1; round < ROUNDS_OF_A_GROUP; round += 1) for (const group of dearest) await askOnce(group);
  const [most] = byTime().filter(([group]) => dearest.includes(group));
  if (most === undefined) throw new Error("there are no groups");
  const [group, beyond] = most;
  const name = `first request of the group ${group}, the dearest of ${groups.size}`;
  return { name, ...measured(beyond), unit: "ms", kind: "most", budget: 30, against: "its second" };
}
