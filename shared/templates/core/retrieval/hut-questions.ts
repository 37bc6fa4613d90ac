import type { Json } from "../../../grading/schema.ts";
import { zip } from "../../lists.ts";
import type { Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";
import { FAMILY_NAMES } from "../../words.ts";

const HUTS = ["Skarv", "Lomm", "Teist", "Rype", "Falk", "Orre", "Spove", "Tjeld", "Heilo", "Gjok"] as const;
const NUMBERS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
] as const;
const WORKS = ["after the storm", "with slate", "by volunteers", "with larch shingles"] as const;

/** A question with the passages about it; `wrong` are what a hasty reader takes the answer to be. */
interface Topic {
  type: "integer" | "string";
  question: string;
  passages: string[];
  answer: Json;
  wrong: Json[];
}

function beds(random: Random, hut: string, other: string, year: number, known: boolean): Topic {
  const [rooms, each, loft] = [random.int(2, 4), random.int(4, 9), random.int(3, 8)];
  const [before, after] = [rooms * each + loft, rooms * each];
  const others = before + random.int(1, 9);
  return {
    type: "integer",
    question: `How many beds has ${hut} Hut?`,
    passages: [
      `${hut} Hut has ${NUMBERS[rooms]} rooms with ${known ? `${each} beds each and a loft with ${loft} more` : `beds of larch wood and a loft with ${loft} beds`}.`,
      `The loft of ${hut} Hut was closed to guests in ${year - random.int(1, 6)}, and its beds were taken out for good.`,
      `${other} Hut has ${others} beds in all.`,
    ],
    answer: known ? after : null,
    wrong: known ? [before, others] : [loft, others],
  };
}

function roof(random: Random, hut: string, other: string, third: string, year: number, known: boolean): Topic {
  const [built, gap, like] = [year - random.int(52, 70), random.int(5, 11), year - random.int(2, 4)];
  const again = built + gap + random.int(12, 25);
  const history = random.pick([
    { text: `${NUMBERS[gap]} years after that it was renewed, and again in ${again}`, last: again, wrong: built + gap },
    { text: `it was renewed in ${again}, and again ${NUMBERS[gap]} years after that`, last: again + gap, wrong: again },
  ]);
  return {
    type: "integer",
    question: `In which year was the roof of ${hut} Hut last renewed?`,
    passages: [
      known
        ? `${hut} Hut was given its roof in ${built}; ${history.text} ${random.pick(WORKS)}.`
        : `${hut} Hut was given its roof in ${built}; it has been renewed more than once since.`,
      `The roof of ${other} Hut was renewed in ${like}, that of ${third} Hut a year later.`,
    ],
    answer: known ? history.last : null,
    wrong: known ? [history.wrong, like, built] : [built, like],
  };
}

function tank(random: Random, hut: string, other: string, year: number, known: boolean): Topic {
  const [litres, more] = [50 * random.int(12, 40), 50 * random.int(2, 11)];
  const [comparison, holds] = random.pick([
    [`${more} litres more than`, litres + more],
    [`${more} litres less than`, litres - more],
  ] as const);
  return {
    type: "integer",
    question: `How many litres does the water tank of ${hut} Hut hold?`,
    passages: [
      `The water tank of ${other} Hut holds ${litres} litres and was cleaned in ${year - 1}.`,
      known
        ? `The water tank of ${hut} Hut holds ${comparison} that of ${other} Hut.`
        : `At ${hut} Hut water is taken from a tank; guests are asked to use it sparingly.`,
    ],
    answer: known ? holds : null,
    wrong: [litres],
  };
}

function warden(random: Random, hut: string, year: number, known: boolean): Topic {
  const [first, second, third] = zip(random.people(3), random.sample(FAMILY_NAMES, 3));
  const [a, b, c] = [first, second, third].map((name) => name?.join(" ") ?? "");
  return {
    type: "string",
    question: `What is the surname of the present warden of ${hut} Hut?`,
    passages: [
      `Until ${year - 2} ${hut} Hut was looked after by ${a}. The successor, ${b}, left in ${year - 1}.`,
      known
        ? `The post of warden at ${hut} Hut went to ${c} in January ${year} and has not changed hands since.`
        : `The post of warden at ${hut} Hut was advertised in January ${year}, and was filled a month later.`,
    ],
    answer: known ? (third?.[1] ?? "") : null,
    wrong: [second?.[1] ?? "", first?.[1] ?? ""],
  };
}

/** Traps: exactly one answer is not there but stands for a similar place, and the others take two steps. */
export const hutQuestions = defineTemplate(
  { id: "retrieval-hut-questions", version: 1, sample: "core-retrieval-hut-questions" },
  (random) => {
    const [hut, other, third] = random.sample(HUTS, 3);
    const year = random.int(2029, 2039);
    const missing = random.int(0, 3);
    const topics = random.shuffle([
      beds(random, hut, other, year, missing !== 0),
      roof(random, hut, other, third, year, missing !== 1),
      tank(random, hut, other, year, missing !== 2),
      warden(random, other, year, missing !== 3),
    ]);
    const named = topics.map((topic, i) => ({ name: `q${i + 1}`, ...topic }));
    const key = Object.fromEntries(named.map(({ name, answer }) => [name, answer]));
    const passages = random.shuffle(topics.flatMap((topic) => topic.passages));
    const forms = named.map(({ name, type }) => `"${name}": ${type} or null`);
    return {
      prompt: `Answer the four questions from the passages in \`input\` alone. Where the passages do not give the answer, the value is null; do not infer from a similar place or person.\n${named.map(({ name, question }) => `- ${name}: ${question}`).join("\n")}\nAnswer with JSON: {${forms.join(", ")}}.`,
      input: { passages: passages.map((text, i) => ({ id: String(i + 1), text })) },
      output_format: "json",
      output_schema: {
        type: "object",
        properties: Object.fromEntries(named.map(({ name, type }) => [name, { type: [type, "null"] }])),
        required: named.map(({ name }) => name),
      },
      grader: { type: "json_fields" },
      expected_output: key,
      wrong_answers: named.flatMap(({ name, wrong }) => wrong.map((value) => ({ ...key, [name]: value }))),
    };
  },
);
