import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

/** The jobs of each building in the order of `AFTER`. */
const BUILDINGS = {
  barn: ["survey", "footings", "drain", "frame", "roof", "tank", "wiring", "paint"],
  boathouse: ["soundings", "piles", "slipway", "frame", "roof", "winch", "lights", "varnish"],
  mill: ["levelling", "foundations", "millrace", "walls", "cap", "wheel", "gears", "limewash"],
  greenhouse: ["staking", "plinth", "cistern", "ribs", "glazing", "boiler", "pipes", "benches"],
} as const;
const NAMES = ["barn", "boathouse", "mill", "greenhouse"] as const;
/** The jobs that each job waits for, by their places. */
const AFTER: readonly (readonly number[])[] = [[], [0], [0], [1], [3], [2], [3, 5], [4]];
const PLACES = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const MAX_DAYS = 80;

interface Job {
  days: number;
  crews: number;
  crane: boolean;
}
interface Limits {
  crews: number;
  cranes: number;
}

/** The days from each job's start to the end of the longest chain behind it, the job included. */
function tails(jobs: readonly Job[]): number[] {
  const found = jobs.map(() => 0);
  for (const place of PLACES.toReversed()) {
    const later = PLACES.filter((other) => AFTER[other]?.includes(place)).map((other) => found[other] ?? 0);
    found[place] = (jobs[place]?.days ?? 0) + Math.max(0, ...later);
  }
  return found;
}

/**
 * The least number of days: some order of the jobs, each begun as early as those before it allow, gives a shortest
 * schedule, so all orders are gone through, but for those that can't be shorter than the best so far.
 */
function shortest(jobs: readonly Job[], { crews, cranes }: Limits): number {
  const behind = tails(jobs);
  const crewsAt = Array.from({ length: MAX_DAYS }, () => 0);
  const cranesAt = Array.from({ length: MAX_DAYS }, () => 0);
  const ends = jobs.map(() => -1);
  let best = jobs.reduce((sum, { days }) => sum + days, 0);
  const occupy = ({ days, crews: men, crane }: Job, start: number, sign: 1 | -1) => {
    for (let day = start; day < start + days; day += 1) {
      crewsAt[day] = (crewsAt[day] ?? 0) + sign * men;
      cranesAt[day] = (cranesAt[day] ?? 0) + sign * Number(crane);
    }
  };
  const startOf = ({ days, crews: men, crane }: Job, earliest: number) => {
    let start = earliest;
    for (let day = start; day < start + days; day += 1) {
      const full = (crewsAt[day] ?? 0) + men > crews || (cranesAt[day] ?? 0) + Number(crane) > cranes;
      if (full) start = day + 1;
    }
    return start;
  };
  const place = (left: number, end: number) => {
    if (left === 0) best = Math.min(best, end);
    for (const [at, job] of jobs.entries()) {
      const after = AFTER[at] ?? [];
      if (ends[at] !== -1 || after.some((other) => ends[other] === -1)) continue;
      const start = startOf(job, Math.max(0, ...after.map((other) => ends[other] ?? 0)));
      if (start + (behind[at] ?? 0) >= best) continue;
      occupy(job, start, 1);
      ends[at] = start + job.days;
      place(left - 1, Math.max(end, start + job.days));
      ends[at] = -1;
      occupy(job, start, -1);
    }
  };
  place(jobs.length, 0);
  return best;
}

function drawJobs(random: Random): Job[] {
  // The frame needs both crews; the crane is at work on both of the chains that could else go on side by side.
  const cranes = random.pick([
    [1, 3, 4, 5],
    [1, 2, 4, 5],
    [2, 3, 4, 5],
    [1, 3, 5, 7],
    [2, 4, 5, 6],
  ]);
  return PLACES.map((place) => {
    const [least, most] = place === 0 ? [1, 3] : [2, 7];
    return { days: random.int(least, most), crews: place === 3 ? 2 : 1, crane: cranes.includes(place) };
  });
}

const numbered = (count: number): string => `${count} day${count === 1 ? "" : "s"}`;

/** Traps: one crane, a job that needs both crews, days that are counted from a number and not from 0. */
export const barnSchedule = defineTemplate(
  { id: "planning-barn-schedule", version: 1, sample: "core-planning-barn-schedule" },
  (random) => {
    const building = random.pick(NAMES);
    const names = BUILDINGS[building];
    const first = random.int(2, 90);
    return drawUntil(() => {
      const jobs = drawJobs(random);
      const free = shortest(jobs, { crews: 8, cranes: 8 });
      const days = shortest(jobs, { crews: 2, cranes: 1 });
      if (days - free < 2) return undefined;
      const withoutCrane = shortest(jobs, { crews: 2, cranes: 8 });
      const withoutCrews = shortest(jobs, { crews: 8, cranes: 1 });
      if (withoutCrane === days || withoutCrews === days) return undefined;
      const sum = jobs.reduce((total, job) => total + job.days, 0);
      const lengths = [free, withoutCrane, withoutCrews, days + 1, days - 1, sum];
      const length = jobs[0]?.days ?? 0;
      const filled = Array.from({ length }, (_, i) => first + i);
      const span = `${length === 1 ? "day" : "days"} ${[filled.slice(0, -1).join(", "), filled.at(-1)].filter((part) => part !== "").join(" and ")}`;
      const rows = jobs.map((job, at) => ({
        job: names[at] ?? "",
        ...job,
        after: (AFTER[at] ?? []).map((other) => names[other] ?? ""),
      }));
      return {
        prompt: `Two crews build a ${building}; the jobs are in \`input\`. A job takes \`days\` whole days without a break, needs \`crews\` crews for all of that time, and may begin only when all jobs in \`after\` are finished. There is a single crane: jobs with \`crane\` true can never run at the same time. Work begins on day ${first}; a job of ${numbered(length)} that begins on day ${first} fills ${span}, and a job after it can begin on day ${first + length}. What is the number of the day on which the whole ${building} can be finished at the earliest? Answer with the number alone.`,
        input: { crews: 2, jobs: random.shuffle(rows) },
        output_format: "text",
        grader: { type: "numeric" },
        expected_output: first + days - 1,
        wrong_answers: [...lengths.map((one) => String(first + one - 1)), String(days)],
      };
    });
  },
);
