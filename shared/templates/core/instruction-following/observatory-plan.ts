import type { Json } from "../../../grading/schema.ts";
import { zip } from "../../lists.ts";
import { defineTemplate } from "../../types.ts";

/** What is planned: a place with a measure, and jobs there of which each has these things. */
const PLANS = [
  {
    plan: "one night at a small observatory",
    place: { key: "site", text: "a site with a name and an altitude", measure: "altitude_m", least: [500, 1500] },
    jobs: { key: "observations", text: "observations with a target, a start hour, a duration in minutes, a filter" },
    keys: ["target", "filter"],
    options: ["red", "blue", "clear", "green", "violet", "sodium"],
  },
  {
    plan: "one night at a bird ringing station",
    place: { key: "station", text: "a station with a name and a number of nets", measure: "nets", least: [6, 20] },
    jobs: { key: "rounds", text: "rounds with a habitat, a start hour, a duration in minutes, a lamp" },
    keys: ["habitat", "lamp"],
    options: ["amber", "white", "dim", "head", "hand", "infrared"],
  },
  {
    plan: "one night at a bakery school",
    place: { key: "kitchen", text: "a kitchen with a name and a number of ovens", measure: "ovens", least: [2, 8] },
    jobs: { key: "bakes", text: "bakes with a loaf, a start hour, a duration in minutes, a flour" },
    keys: ["loaf", "flour"],
    options: ["rye", "spelt", "oat", "wheat", "barley", "buckwheat"],
  },
  {
    plan: "one night at a harbour",
    place: {
      key: "harbour",
      text: "a harbour with a name and a length of its quay",
      measure: "quay_m",
      least: [150, 400],
    },
    jobs: { key: "arrivals", text: "arrivals with a vessel, a start hour, a duration in minutes, a berth" },
    keys: ["vessel", "berth"],
    options: ["north", "south", "inner", "outer", "fuel", "dock"],
  },
] as const;
const RANKS = ["priority", "rank", "grade"] as const;
const NOTES = ["comment", "remark", "reason", "note"] as const;
const NAMES = ["Brae Head", "Corvan Rise", "Little Ambreth", "Old Pellworth", "Marsk Point", "Upper Drumlow"] as const;
const JOB_NAMES = ["Vesk", "Orin", "Lyrra", "Tamor", "Quell", "Ibrin", "Dorsa"] as const;
const NUMBERS = new Map([
  [3, "three"],
  [4, "four"],
  [5, "five"],
  [6, "six"],
]);

/** Traps, all of them in the schema alone: hours over midnight, a grid of minutes, a note on the jobs of one rank only. */
export const observatoryPlan = defineTemplate(
  { id: "instructions-observatory-plan", version: 1, sample: "core-instructions-observatory-plan" },
  (random) => {
    const { plan, place, jobs, keys, options } = random.pick(PLANS);
    const [[what, choice], rank, note] = [keys, random.pick(RANKS), random.pick(NOTES)];
    const [low, high] = place.least;
    const [name, minimum] = [random.pick(NAMES), random.int(low, high)];
    const maximum = minimum * random.int(2, 3) + random.int(0, 9);
    const [shortest, longest] = [random.int(3, 6), random.int(24, 40)];
    const [dusk, dawn] = [random.int(19, 22), random.int(2, 6)];
    const step = random.pick([15, 20, 25, 35]);
    const [shortly, long] = [step * random.int(1, 3), step * random.int(5, 9)];
    const chosen = random.sample<string, 3>(options, 3);
    const marked = random.int(1, 3);
    const unmarked = [1, 2, 3].filter((one) => one !== marked);
    const [few, times] = [random.int(3, 4), random.int(1, 2)];
    const many = few + random.int(1, 2);
    const job = (called: string, i: number): { [key: string]: Json } => ({
      [what]: called,
      start_hour: i % 2 === 0 ? dusk : dawn,
      duration_min: shortly + step * (i % 2),
      [choice]: i % 2 === 0 ? null : chosen[0],
      ...(i < times ? { [rank]: marked, [note]: "comes first" } : { [rank]: unmarked[i % 2] ?? 0 }),
    });
    const right = random.sample(JOB_NAMES, few).map(job);
    const planned = (...change: { [key: string]: Json }[]): Json => ({
      [place.key]: { name, [place.measure]: minimum + 1 },
      [jobs.key]: [...zip(right, change).map(([one, by]) => ({ ...one, ...by })), ...right.slice(change.length)],
    });
    const last = (by: { [key: string]: Json }) => planned(...right.slice(1).map(() => ({})), by);
    return {
      prompt: `Draw up a plan for ${plan} as JSON that is valid against the task's \`output_schema\`: ${place.text}, and ${NUMBERS.get(few)} to ${NUMBERS.get(many)} ${jobs.text} and a ${rank}. Invent the names. The schema decides about everything else. Answer with the JSON alone.`,
      output_format: "json",
      output_schema: {
        type: "object",
        properties: {
          [place.key]: {
            type: "object",
            properties: {
              name: { type: "string", minLength: shortest, maxLength: longest },
              [place.measure]: { type: "integer", minimum, maximum },
            },
            required: ["name", place.measure],
            additionalProperties: false,
          },
          [jobs.key]: {
            type: "array",
            minItems: few,
            maxItems: many,
            uniqueItems: true,
            items: {
              type: "object",
              properties: {
                [what]: { type: "string", minLength: 2 },
                start_hour: {
                  type: "integer",
                  anyOf: [
                    { minimum: dusk, maximum: 23 },
                    { minimum: 0, maximum: dawn },
                  ],
                },
                duration_min: { type: "integer", multipleOf: step, minimum: shortly, maximum: long },
                [choice]: { enum: [...chosen, null] },
                [rank]: { enum: [1, 2, 3] },
                [note]: { type: "string" },
              },
              required: [what, "start_hour", "duration_min", choice, rank],
              additionalProperties: false,
              oneOf: [
                { properties: { [rank]: { const: marked } }, required: [note] },
                { properties: { [rank]: { enum: unmarked } }, not: { required: [note] } },
              ],
            },
            contains: { properties: { [rank]: { const: marked } } },
            minContains: times,
            maxContains: times,
          },
        },
        required: [place.key, jobs.key],
        additionalProperties: false,
      },
      grader: { type: "json_schema" },
      expected_output: null,
      wrong_answers: [
        last({ start_hour: 24 }),
        last({ start_hour: dawn + 1 }),
        last({ duration_min: shortly + 5 }),
        last({ [note]: "if the sky is clear" }),
        last({ [rank]: marked, [note]: "just as important" }),
        last({ [choice]: "none" }),
        planned({ [rank]: unmarked[0] ?? 0 }),
        `${name}: first ${JOB_NAMES[0]} at ${dusk} o'clock, then ${JOB_NAMES[1]} for ${shortly} minutes.`,
      ],
    };
  },
);
