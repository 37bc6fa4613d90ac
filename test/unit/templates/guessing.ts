import type { Answer } from "../../../shared/grading/types.ts";
import type { CoreTemplate } from "../../../shared/templates/types.ts";
import { drawsOf, passesInstance } from "./draws.ts";

/** Answers of an agent that does not read what it is asked. */
const TEXTS = [
  "",
  "A",
  "B",
  "C",
  "D",
  "E",
  "0",
  "1",
  "2",
  "10",
  "42",
  "yes",
  "no",
  "true",
  "none",
  "I can't help with that.",
];
const CONSTANTS: readonly Answer[] = [
  ...TEXTS.map((output) => ({ output })),
  { output: [] },
  { output: {} },
  { output: null, tool_calls: [] },
  { output: null, refused: true },
];

/** How lucky somebody gets with a template. */
export interface Luck {
  /** The answer that, given to every instance, passes most often, and how often. */
  best: { answer: Answer; share: number };
  /** How often the right answer to another instance passes, which beats any guess that knows less of the template. */
  guess: number;
}

const memory = new Map<string, Luck>();

/** How often the best constant answer and a guess pass over the instances of a template. */
export function guesses(template: CoreTemplate): Luck {
  const known = memory.get(template.id);
  if (known !== undefined) return known;
  const drawn = drawsOf(template);
  const answers = drawn.map(({ answer }) => JSON.stringify(answer));
  const every = Math.ceil(drawn.length / 6);
  const candidates: Answer[] = [
    ...mostFrequent(answers, 5).map(({ item }): Answer => JSON.parse(item)),
    ...drawn.filter((_, number) => number % every === 0).map(({ answer }) => answer),
    ...CONSTANTS,
  ];
  // What passes none of the first tenth is nowhere near the bounds. All answers to one instance come in a row, so that
  // its pattern or schema is compiled once.
  const hopeful = new Set<Answer>();
  for (const { instance } of drawn.slice(0, drawn.length / 10)) {
    for (const answer of candidates) if (!hopeful.has(answer) && passesInstance(instance, answer)) hopeful.add(answer);
  }
  const constants = candidates.map((answer) => {
    const passed = hopeful.has(answer) ? share(drawn, ({ instance }) => passesInstance(instance, answer)) : 0;
    return { answer, share: passed };
  });
  const best = constants.reduce((most, one) => (one.share > most.share ? one : most));
  const guess = share(drawn, ({ instance }, number) => {
    const other = drawn[(number + 1) % drawn.length];
    return other !== undefined && passesInstance(instance, other.answer);
  });
  memory.set(template.id, { best, guess });
  return { best, guess };
}

/** The share of the items of which the condition holds. */
export function share<T>(items: readonly T[], holds: (item: T, index: number) => boolean): number {
  return items.filter(holds).length / items.length;
}

/** The items that come most often, with their counts, the most frequent first. */
export function mostFrequent(items: readonly string[], limit: number): { item: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts]
    .map(([item, count]) => ({ item, count }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, limit);
}
