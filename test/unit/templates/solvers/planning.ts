import { clockOf, groups, inputOf, minutesOf, numbers, only, permutations, type Solver, subsets } from "./support.ts";

interface Job {
  job: string;
  days: number;
  crews: number;
  crane: boolean;
  after: string[];
}

/** Goes from one end of a job to the next, trying every choice of jobs to begin there. */
const barnSchedule: Solver = (asked) => {
  const { crews, jobs } = inputOf<{ crews: number; jobs: Job[] }>(asked);
  const [first = 0] = numbers(/Work begins on day (\d+);/, asked.prompt);
  const known = new Map<string, number>();
  /** The days that are left; `left[i]` are those of job i, which is at work where they are fewer than at first. */
  const remaining = (left: readonly number[], running: readonly number[]): number => {
    if (left.every((days) => days === 0)) return 0;
    const name = `${left.join()} ${running.join()}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    const done = (job: string) => left[jobs.findIndex((other) => other.job === job)] === 0;
    const ready = jobs.flatMap(({ days, after }, i) =>
      left[i] === days && !running.includes(i) && after.every(done) ? [i] : [],
    );
    let least = Number.POSITIVE_INFINITY;
    for (const begun of subsets(ready)) {
      const today = [...running, ...begun];
      const used = (of: (job: Job) => number) => today.reduce((sum, i) => sum + (jobs[i] ? of(jobs[i]) : 0), 0);
      if (today.length === 0 || used((job) => job.crews) > crews || used(({ crane }) => Number(crane)) > 1) continue;
      const step = Math.min(...today.map((i) => left[i] ?? 0));
      const next = left.map((days, i) => (today.includes(i) ? days - step : days));
      least = Math.min(
        least,
        step +
          remaining(
            next,
            today.filter((i) => next[i] !== 0),
          ),
      );
    }
    known.set(name, least);
    return least;
  };
  const days = remaining(
    jobs.map((job) => job.days),
    [],
  );
  return String(first + days - 1);
};

interface Thing {
  name: string;
  kg: number;
  litres: number;
  value: number;
}

const sledgeLoad: Solver = (asked) => {
  const { things } = inputOf<{ things: Thing[] }>(asked);
  const [kg = 0, litres = 0] = numbers(/at most (\d+) kg and fill at most (\d+) litres/, asked.prompt);
  const [needy = "", needed = "", one = "", other = ""] = groups(
    /The ([\w -]+) may be taken only together with the ([\w -]+)\. The ([\w -]+) and the ([\w -]+) share a mount/,
    asked.prompt,
  );
  let [best, most, ties]: [string[], number, number] = [[], -1, 0];
  for (let mask = 0; mask < 2 ** things.length; mask += 1) {
    const load = things.filter((_, i) => (mask >> i) & 1);
    const sum = (of: "kg" | "litres" | "value") => load.reduce((total, thing) => total + thing[of], 0);
    const has = (name: string) => load.some((thing) => thing.name === name);
    if (sum("kg") > kg || sum("litres") > litres || (has(needy) && !has(needed)) || (has(one) && has(other))) continue;
    const value = sum("value");
    if (value === most) ties += 1;
    if (value > most) [best, most, ties] = [load.map(({ name }) => name), value, 0];
  }
  if (ties > 0) throw new Error("there is more than one best load");
  return best;
};

const orders = permutations([0, 1, 2, 3, 4]);

const breadTour: Solver = (asked) => {
  const { driving_minutes, shops } = inputOf<{
    driving_minutes: Record<string, Record<string, number>>;
    shops: Record<string, { earliest: number; latest: number }>;
  }>(asked);
  const [unloading = 0] = numbers(/Unloading takes (\d+) minutes/, asked.prompt);
  const drive = (from: string, to: string) => driving_minutes[from]?.[to] ?? driving_minutes[to]?.[from] ?? Number.NaN;
  const names = Object.keys(shops);
  const tours = orders.flatMap((order) => {
    let [minute, driven, place] = [0, 0, "yard"];
    for (const shop of order.map((i) => names[i] ?? "")) {
      const { earliest, latest } = shops[shop] ?? { earliest: 0, latest: -1 };
      driven += drive(place, shop);
      minute = Math.max(minute + drive(place, shop), earliest);
      if (minute > latest) return [];
      minute += unloading;
      place = shop;
    }
    return [{ tour: order.map((i) => names[i]).join("-"), driven: driven + drive(place, "yard") }];
  });
  const least = Math.min(...tours.map(({ driven }) => driven));
  return only(tours.filter(({ driven }) => driven === least)).tour;
};

const videoCall: Solver = (asked) => {
  type Busy = { name: string; busy: [string, string][] };
  const { people, rooms } = inputOf<{ people: (Busy & { utc_offset_hours: number })[]; rooms: Busy[] }>(asked);
  const [minutes = ""] = groups(/video call of (\d+) minutes/, asked.prompt);
  const [opens = "", closes = ""] = groups(/working hours ([\d:]+) to ([\d:]+) of/, asked.prompt);
  const length = Number(minutes);
  // In UTC, when somebody, or a room, can't be in the call.
  const blocked = (busy: [string, string][], shift = 0) =>
    busy.map(([from, to]) => ({ from: minutesOf(from) - shift, to: minutesOf(to) - shift }));
  const outside: [string, string][] = [
    ["-24:00", opens],
    [closes, "48:00"],
  ];
  const calendars = people.map((person) => blocked([...person.busy, ...outside], 60 * person.utc_offset_hours));
  const halls = rooms.map((room) => ({ name: room.name, taken: blocked(room.busy) }));
  const goes = (taken: { from: number; to: number }[], start: number) =>
    !taken.some(({ from, to }) => start < to && from < start + length);
  for (let start = 0; start < 24 * 60; start += 15) {
    const open = halls.filter(({ taken }) => goes(taken, start));
    if (open.length === 0 || !calendars.every((taken) => goes(taken, start))) continue;
    return { start_utc: clockOf(start), room: only(open).name };
  }
  throw new Error("no time suits");
};

/** Solvers of the templates of `planning`. */
export const planningSolvers: Record<string, Solver> = {
  "planning-barn-schedule": barnSchedule,
  "planning-sledge-load": sledgeLoad,
  "planning-bread-tour": breadTour,
  "planning-video-call": videoCall,
};
