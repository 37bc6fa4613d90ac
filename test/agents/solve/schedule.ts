import * as z from "zod";
import type { Solver } from "./kind.ts";

const MAX_JOBS = 9;

const ProjectJob = z
  .object({ job: z.string(), days: z.number().int().positive(), after: z.array(z.string()) })
  .catchall(z.json());
const Project = z.looseObject({ jobs: z.array(ProjectJob).min(1).max(MAX_JOBS) });

interface Job {
  name: string;
  days: number;
  after: string[];
  /** How much of each resource the job takes all the while. */
  needs: Map<string, number>;
}

interface Placed {
  job: Job;
  start: number;
  end: number;
}

/**
 * The shortest time for jobs with predecessors that share limited resources: a number of the input that a job has under
 * the same name is a capacity, a flag of a job is a thing of which there is one. Every order is tried, each job at its
 * earliest start (serial schedule generation, which always reaches an optimum), cut off where it cannot win.
 */
export const schedule: Solver = ({ input, output_format }) => {
  const project = Project.safeParse(input).data;
  if (project === undefined || output_format !== "text") return null;
  const capacities = new Map<string, number>();
  for (const name of new Set(project.jobs.flatMap((job) => Object.keys(job)))) {
    const limit = project[name];
    if (typeof limit === "number") capacities.set(name, limit);
    else if (project.jobs.some((job) => typeof job[name] === "boolean")) capacities.set(name, 1);
  }
  const jobs = project.jobs.map((job) => ({
    name: job.job,
    days: job.days,
    after: job.after,
    needs: new Map([...capacities.keys()].map((name) => [name, Number(job[name] ?? 0)])),
  }));
  const days = shortest(jobs, capacities);
  return days === null ? null : { output: String(days) };
};

function shortest(jobs: readonly Job[], capacities: ReadonlyMap<string, number>): number | null {
  let best = Number.POSITIVE_INFINITY;
  const place = (placed: readonly Placed[], rest: readonly Job[], end: number): void => {
    if (end >= best) return;
    if (rest.length === 0) best = end;
    for (const job of rest) {
      const before = job.after.map((name) => placed.find((other) => other.job.name === name));
      if (before.includes(undefined)) continue;
      const ready = Math.max(0, ...before.map((other) => other?.end ?? 0));
      const start = earliestStart(job, ready, placed, capacities);
      if (start === null) continue;
      const next = { job, start, end: start + job.days };
      place(
        [...placed, next],
        rest.filter((other) => other !== job),
        Math.max(end, next.end),
      );
    }
  };
  place([], jobs, 0);
  return Number.isFinite(best) ? best : null;
}

/** The first time from `ready` on at which the resources suffice for the whole job; null where they never do. */
function earliestStart(job: Job, ready: number, placed: readonly Placed[], capacities: ReadonlyMap<string, number>) {
  const starts = [ready, ...placed.map(({ end }) => end).filter((end) => end > ready)].toSorted((a, b) => a - b);
  const fits = (start: number) => {
    const during = placed.filter((other) => other.start < start + job.days && other.end > start);
    const moments = [start, ...during.map((other) => Math.max(start, other.start))];
    return moments.every((moment) =>
      [...capacities].every(([name, limit]) => {
        const running = during.filter((other) => other.start <= moment && other.end > moment);
        const used = running.reduce((sum, other) => sum + (other.job.needs.get(name) ?? 0), 0);
        return used + (job.needs.get(name) ?? 0) <= limit;
      }),
    );
  };
  return starts.find(fits) ?? null;
}
