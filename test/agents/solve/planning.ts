import * as z from "zod";
import type { Solver } from "./kind.ts";
import { permutationsOf, subsetsOf } from "./search.ts";
import { literal } from "./text.ts";
import { clockOf, minutesOf, wrapDay } from "./time.ts";

const MAX_THINGS = 16;
const MAX_STOPS = 8;

const record = z.record(z.string(), z.json());
const Things = z
  .array(z.object({ name: z.string(), value: z.number() }).catchall(z.json()))
  .min(1)
  .max(MAX_THINGS);

/** The most valuable load within every `max_…` of the input, with “only together with” and “at most one of” rules. */
export const load: Solver = ({ prompt, input }) => {
  const parts = Object.entries(record.catch({}).parse(input));
  const things = parts.map(([, value]) => Things.safeParse(value).data).find((list) => list !== undefined);
  const limits = parts.filter(([name, value]) => name.startsWith("max_") && typeof value === "number");
  if (things === undefined || limits.length === 0) return null;
  const total = (chosen: typeof things, field: string) => chosen.reduce((sum, thing) => sum + Number(thing[field]), 0);
  const allowed = ruleOf(
    prompt,
    things.map(({ name }) => name),
  );
  const fits = (chosen: typeof things) =>
    limits.every(([name, limit]) => total(chosen, name.slice("max_".length)) <= Number(limit)) &&
    allowed(new Set(chosen.map(({ name }) => name)));
  const [best] = [...subsetsOf(things)].filter(fits).toSorted((a, b) => total(b, "value") - total(a, "value"));
  return best === undefined ? null : { output: best.map(({ name }) => name) };
};

/** Which sets of names the prompt's sentences about two of them allow. */
function ruleOf(prompt: string, names: readonly string[]): (chosen: ReadonlySet<string>) => boolean {
  const name = `(?:[Tt]he )?(${names.map(literal).join("|")})`;
  const pairs = (pattern: string) =>
    [...prompt.matchAll(new RegExp(pattern, "gu"))].map(([, a = "", b = ""]) => [a, b] as const);
  const needs = pairs(`${name} (?:may|can) (?:be \\w+ only|only be \\w+) together with ${name}`);
  const excludes = [
    ...pairs(`${name} and ${name} [^.]*at most one`),
    ...pairs(`${name} and ${name} exclude each other`),
  ];
  return (chosen) =>
    needs.every(([a, b]) => !chosen.has(a) || chosen.has(b)) &&
    excludes.every(([a, b]) => !chosen.has(a) || !chosen.has(b));
}

const Windows = z.record(z.string(), z.object({ earliest: z.number(), latest: z.number() }));
const Distances = z.record(z.string(), z.record(z.string(), z.number()));

/** The round trip with the least driving that meets every opening time; the depot is the place without one. */
export const tour: Solver = ({ input }) => {
  const parts = Object.entries(record.catch({}).parse(input));
  const windows = parts.map(([, value]) => Windows.safeParse(value).data).find((part) => part !== undefined);
  // Opening times are records of numbers, too: by their form alone they would pass for distances.
  const others = parts.filter(([, value]) => !Windows.safeParse(value).success);
  const distances = others.map(([, value]) => Distances.safeParse(value).data).find((part) => part !== undefined);
  const stops = Object.keys(windows ?? {});
  const depot = Object.keys(distances ?? {}).find((place) => !stops.includes(place));
  if (windows === undefined || distances === undefined || depot === undefined || stops.length > MAX_STOPS) return null;
  const [, service] = parts.find(([name, value]) => name.endsWith("_minutes") && typeof value === "number") ?? [];
  const between = (a: string, b: string) => distances[a]?.[b] ?? distances[b]?.[a] ?? Number.POSITIVE_INFINITY;

  let best: { order: string[]; driving: number } | undefined;
  for (const order of permutationsOf(stops)) {
    let [at, time, driving] = [depot, 0, 0];
    for (const stop of order) {
      driving += between(at, stop);
      time = Math.max(time + between(at, stop), windows[stop]?.earliest ?? 0);
      if (time > (windows[stop]?.latest ?? Number.POSITIVE_INFINITY)) driving = Number.POSITIVE_INFINITY;
      time += Number(service ?? 0);
      at = stop;
    }
    driving += between(at, depot);
    if (driving < (best?.driving ?? Number.POSITIVE_INFINITY)) best = { order, driving };
  }
  return best === undefined ? null : { output: best.order.join("-") };
};

const time = z
  .string()
  .regex(/^\d\d:\d\d$/u)
  .transform(minutesOf);
const busy = z.array(z.tuple([time, time]));
const Meeting = z.object({
  minutes: z.number().int().positive(),
  working_hours: z.tuple([time, time]),
  people: z.array(z.object({ utc_offset_hours: z.number(), busy })),
  rooms: z.array(z.object({ name: z.string(), busy })).default([]),
});

const STEPS: readonly [RegExp, number][] = [
  [/quarter of an hour|quarter-hour/iu, 15],
  [/half[- ](?:an )?hour/iu, 30],
  [/full hour/iu, 60],
];

/** The earliest time of a day (UTC) at which everybody, in own working hours and time zone, and a room are free. */
export const meeting: Solver = ({ prompt, input, output_format }) => {
  const plan = Meeting.safeParse(input).data;
  if (plan === undefined || output_format !== "json") return null;
  const isFree = (periods: z.output<typeof busy>, start: number) =>
    periods.every(([from, to]) => start + plan.minutes <= from || start >= to);
  const [opens, closes] = plan.working_hours;
  const isHere = ({ utc_offset_hours, busy: periods }: (typeof plan.people)[number], start: number) => {
    const local = wrapDay(start + utc_offset_hours * 60);
    return local >= opens && local + plan.minutes <= closes && isFree(periods, local);
  };
  const step = STEPS.find(([pattern]) => pattern.test(prompt))?.[1] ?? 1;
  for (let start = 0; start < 1440; start += step) {
    const room = plan.rooms.find(({ busy: periods }) => isFree(periods, start));
    if (!plan.people.every((person) => isHere(person, start)) || (plan.rooms.length > 0 && room === undefined))
      continue;
    return { output: { start_utc: clockOf(start), ...(room === undefined ? {} : { room: room.name }) } };
  }
  return null;
};
