import { type Check, groups, inputOf, only, parseClock } from "./support.ts";

interface Project {
  id: string;
  cost: number;
  value: number;
}

const portfolio: Check = (task) => {
  const { budget, projects } = inputOf<{ budget: number; projects: Project[] }>(task);
  const [limit, rivalA = "", rivalB = "", follower = "", base = ""] = groups(
    /at most (\d+) .*?\. (\S+) and (\S+) exclude each other\. (\S+) can only be chosen together with (\S+)\. /,
    task.prompt,
  );
  if (Number(limit) !== budget) throw new Error("prompt and input differ");
  let best: { value: number; choices: string[][] } = { value: -1, choices: [] };
  const decide = (rest: Project[], left: number, value: number, chosen: string[]): void => {
    const [next, ...later] = rest;
    if (left < 0) return;
    if (next !== undefined) {
      decide(later, left - next.cost, value + next.value, [...chosen, next.id]);
      return decide(later, left, value, chosen);
    }
    if (chosen.includes(rivalA) && chosen.includes(rivalB)) return;
    if (chosen.includes(follower) && !chosen.includes(base)) return;
    if (value > best.value) best = { value, choices: [] };
    if (value === best.value) best.choices.push(chosen);
  };
  decide(projects, budget, 0, []);
  return only(best.choices);
};

interface Step {
  id: string;
  days: number;
  after: { step: string; wait_days: number }[];
}

const criticalPath: Check = (task) => {
  const { steps } = inputOf<{ steps: Step[] }>(task);
  const [asked] = groups(/step (\w) alone/, task.prompt);
  const finishWith = (extra: number) => {
    const end = (id: string): number => {
      const { days, after } = only(steps.filter((step) => step.id === id));
      const start = Math.max(0, ...after.map(({ step, wait_days }) => end(step) + wait_days));
      return start + days + (id === asked ? extra : 0);
    };
    return Math.max(...steps.map(({ id }) => end(id)));
  };
  const finish = finishWith(0);
  let slack = 0;
  while (finishWith(slack + 1) === finish) slack += 1;
  return { finish_days: finish, slack_days: slack };
};

interface Attendee {
  utc_offset: string;
  busy: { from: string; to: string }[];
}

const meetingSlot: Check = (task) => {
  const { duration_minutes, people } = inputOf<{ duration_minutes: number; people: Attendee[] }>(task);
  const suits = Array.from({ length: 1440 }, () => true);
  const block = (fromUtc: number, toUtc: number) => suits.fill(false, Math.max(0, fromUtc), Math.max(0, toUtc));
  for (const { utc_offset, busy } of people) {
    const offset = parseClock(utc_offset.slice(1)) * (utc_offset.startsWith("-") ? -1 : 1);
    block(0, parseClock("09:00") - offset);
    block(parseClock("17:00") - offset, 1440);
    for (const { from, to } of busy) block(parseClock(from) - offset, parseClock(to) - offset);
  }
  const start = suits.findIndex((_, utc) => {
    const span = suits.slice(utc, utc + duration_minutes);
    return utc % 15 === 0 && span.length === duration_minutes && span.every(Boolean);
  });
  return new Date(start * 60_000).toISOString().slice(11, 16);
};

const assignment: Check = (task) => {
  const { hours } = inputOf<{ hours: Record<string, Record<string, number | null>> }>(task);
  const people = Object.keys(hours);
  type Plan = { total: number; jobs: string[] };
  let plans: Plan[] = [{ total: 0, jobs: [] }];
  for (const person of people) {
    plans = plans.flatMap(({ total, jobs }) =>
      Object.entries(hours[person] ?? {}).flatMap(([job, cost]) =>
        cost === null || jobs.includes(job) ? [] : [{ total: total + cost, jobs: [...jobs, job] }],
      ),
    );
  }
  const least = Math.min(...plans.map(({ total }) => total));
  const { jobs } = only(plans.filter(({ total }) => total === least));
  return Object.fromEntries(people.map((person, i) => [person, jobs[i] ?? ""]));
};

/** Second computations for the templates of `planning`. */
export const planningChecks: Record<string, Check> = {
  portfolio,
  "critical-path": criticalPath,
  "meeting-slot": meetingSlot,
  assignment,
};
