import { permutations, subsets } from "../../templates/lists.ts";
import { drawUntil } from "../../templates/random.ts";
import { clock, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

const portfolio = defineTemplate(
  {
    id: "portfolio",
    title: "The best set under a budget",
    domain: "planning",
    output_format: "json",
    reference_cost_usd: 0.012,
    reference_latency_ms: 15_000,
  },
  (random) => {
    const ids = random.codes("P", 8);
    return drawUntil(() => {
      const projects = ids.map((id) => ({ id, cost: random.int(11, 49), value: random.int(20, 99) }));
      const budget = Math.round(sum(projects.map(({ cost }) => cost)) / 2);
      const [rivalA, rivalB, follower, base] = random.sample(ids, 4);
      const allowed = (chosen: readonly string[]) =>
        !(chosen.includes(rivalA) && chosen.includes(rivalB)) && (!chosen.includes(follower) || chosen.includes(base));
      const idsOf = (chosen: typeof projects) => chosen.map(({ id }) => id);
      const cost = (chosen: typeof projects) => sum(chosen.map((project) => project.cost));
      const value = (chosen: typeof projects) => sum(chosen.map((project) => project.value));
      const affordable = subsets(projects).filter((chosen) => cost(chosen) <= budget);
      const [best, second] = affordable
        .filter((chosen) => allowed(idsOf(chosen)))
        .toSorted((a, b) => value(b) - value(a));
      if (best === undefined || second === undefined || value(best) === value(second)) return undefined;
      // Neither taking the best ratios first nor forgetting the two conditions may lead to the optimum.
      const greedy = projects
        .toSorted((a, b) => b.value / b.cost - a.value / a.cost)
        .reduce<typeof projects>((chosen, next) => {
          const more = [...chosen, next];
          return cost(more) <= budget && allowed(idsOf(more)) ? more : chosen;
        }, []);
      const unconditional = Math.max(...affordable.map(value));
      if (value(greedy) === value(best) || unconditional === value(best)) return undefined;
      return {
        prompt: prose(
          `Choose projects of the input so that their total cost is at most ${budget} and their total value is as large as`,
          `possible. ${rivalA} and ${rivalB} exclude each other. ${follower} can only be chosen together with ${base}.`,
          "There is exactly one best choice. Answer with a JSON array of the ids of the chosen projects and nothing else;",
          "the order does not matter.",
        ),
        input: { budget, projects },
        grader: { type: "set_f1" },
        expected_output: idsOf(best),
      };
    });
  },
);

const STEPS = ["A", "B", "C", "D", "E", "F", "G", "H"] as const;

const criticalPath = defineTemplate(
  {
    id: "critical-path",
    title: "Earliest finish and slack",
    domain: "planning",
    output_format: "json",
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
  },
  (random) =>
    drawUntil(() => {
      const waiting = random.pick(STEPS.slice(2));
      const steps = STEPS.map((id, i) => {
        const before = random.sample(STEPS.slice(0, i), Math.min(i, random.int(1, 2)));
        const after = before.map((step, j) => ({ step, wait_days: id === waiting && j === 0 ? random.int(2, 4) : 0 }));
        return { id, days: random.int(2, 9), after };
      });
      const ends = new Map<string, number>();
      for (const { id, days, after } of steps) {
        ends.set(id, days + Math.max(0, ...after.map(({ step, wait_days }) => (ends.get(step) ?? 0) + wait_days)));
      }
      const finish = Math.max(...ends.values());
      const latestEnds = new Map<string, number>();
      for (const { id } of steps.toReversed()) {
        const limits = steps.flatMap((later) =>
          later.after
            .filter(({ step }) => step === id)
            .map(({ wait_days }) => (latestEnds.get(later.id) ?? finish) - later.days - wait_days),
        );
        latestEnds.set(id, Math.min(finish, ...limits));
      }
      const slack = (id: string) => (latestEnds.get(id) ?? 0) - (ends.get(id) ?? 0);
      const loose = STEPS.slice(0, 6).filter((id) => slack(id) > 1);
      if (loose.length === 0 || slack(waiting) > 0) return undefined;
      const asked = random.pick(loose);
      return {
        prompt: prose(
          "The input lists the steps of a job with their durations in days. A step starts when every step of its `after` list",
          "has ended and the `wait_days` counted from that end have passed; any number of steps can run at the same time.",
          "How many days after the start of the first step does the last one end at the earliest, and by how many days at",
          `most can step ${asked} alone take longer without that end moving? Answer with a JSON object and nothing else:`,
          '{"finish_days": number, "slack_days": number}.',
        ),
        input: { steps: random.shuffle(steps) },
        grader: { type: "json_fields" },
        expected_output: { finish_days: finish, slack_days: slack(asked) },
      };
    }),
);

/** `+05:30` of an offset in minutes. */
function utcOffset(minutes: number): string {
  return `${minutes < 0 ? "-" : "+"}${clock(Math.abs(minutes))}`;
}

const meetingSlot = defineTemplate(
  {
    id: "meeting-slot",
    title: "A meeting across time zones",
    domain: "planning",
    output_format: "text",
    reference_cost_usd: 0.008,
    reference_latency_ms: 12_000,
  },
  (random) => {
    const names = random.people(4);
    const duration = 15 * random.int(2, 4);
    return drawUntil(() => {
      const west = 30 * random.int(-6, 0);
      const people = names.map((name) => {
        const offset = west + 30 * random.int(0, 8);
        const busy = [540, 690, 840].map((from) => {
          const start = from + 15 * random.int(0, 4);
          return { start, end: start + 15 * random.int(2, 6) };
        });
        return { name, offset, busy };
      });
      const free = (from: number) =>
        people.every(({ offset, busy }) => {
          const start = from + offset;
          const end = start + duration;
          return start >= 540 && end <= 1020 && busy.every((taken) => end <= taken.start || start >= taken.end);
        });
      const starts = Array.from({ length: 96 }, (_, i) => 15 * i);
      const opening = 540 - Math.min(...people.map(({ offset }) => offset));
      const earliest = starts.find(free);
      if (new Set(people.map(({ offset }) => offset)).size < 4) return undefined;
      if (earliest === undefined || earliest < opening + 60) return undefined;
      return {
        prompt: prose(
          `Four people want to meet for ${duration} minutes on one day. Each can only meet from 09:00 to 17:00 of the own local`,
          "time, and not while busy; the input gives each one's offset from UTC and busy times in that person's local time.",
          "A meeting may begin when a busy time ends and end when one begins. Meetings start on the full quarter hour. What is",
          "the earliest start that suits all four? Answer with the start in UTC as HH:MM on the 24-hour clock and nothing else.",
        ),
        input: {
          duration_minutes: duration,
          people: people.map(({ name, offset, busy }) => ({
            name,
            utc_offset: utcOffset(offset),
            busy: busy.map(({ start, end }) => ({ from: clock(start), to: clock(end) })),
          })),
        },
        grader: { type: "exact" },
        expected_output: clock(earliest),
      };
    });
  },
);

const assignment = defineTemplate(
  {
    id: "assignment",
    title: "Five people, five jobs",
    domain: "planning",
    output_format: "json",
    reference_cost_usd: 0.012,
    reference_latency_ms: 15_000,
  },
  (random) => {
    const people = random.people(5);
    const jobs = random.codes("J", 5);
    const orders = permutations(jobs);
    return drawUntil(() => {
      const pairs = people.flatMap((person) => jobs.map((job) => ({ person, job, hours: random.int(4, 30) })));
      const barred = random.sample(pairs, 4);
      const open = pairs.filter((pair) => !barred.includes(pair));
      const hours = new Map(open.map((pair) => [`${pair.person} ${pair.job}`, pair.hours]));
      const total = (order: string[]) =>
        sum(people.map((person, i) => hours.get(`${person} ${order[i]}`) ?? Number.POSITIVE_INFINITY));
      const [best, second] = orders
        .map((order) => ({ order, total: total(order) }))
        .toSorted((a, b) => a.total - b.total);
      if (best === undefined || second === undefined || !(best.total < second.total)) return undefined;
      // Repeatedly taking the cheapest pair that is left must not lead to the optimum.
      const greedy = open
        .toSorted((a, b) => a.hours - b.hours)
        .reduce<typeof open>(
          (taken, pair) =>
            taken.some(({ person, job }) => person === pair.person || job === pair.job) ? taken : [...taken, pair],
          [],
        );
      if (greedy.length === 5 && sum(greedy.map((pair) => pair.hours)) === best.total) return undefined;
      return {
        prompt: prose(
          "Give each of five people one of five jobs, each job to one person. The input holds the hours that each would need;",
          "null means that this person cannot do this job. The total of hours shall be as small as possible; exactly one",
          "assignment reaches it. Answer with a JSON object and nothing else that maps each person to the id of a job.",
        ),
        input: {
          hours: Object.fromEntries(
            people.map((person) => [
              person,
              Object.fromEntries(jobs.map((job) => [job, hours.get(`${person} ${job}`) ?? null])),
            ]),
          ),
        },
        grader: { type: "json_fields" },
        expected_output: Object.fromEntries(people.map((person, i) => [person, best.order[i] ?? ""])),
      };
    });
  },
);

/** Templates of the domain `planning`. */
export const planningTemplates = [portfolio, criticalPath, meetingSlot, assignment];
