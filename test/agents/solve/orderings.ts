import type { Solver } from "./kind.ts";
import { permutationsOf, unanimous } from "./search.ts";
import { asChoice, captured, countOf, listed, literal, sentencesOf } from "./text.ts";

const MAX_ITEMS = 8;
const BEHIND = "behind|after|below|to the right of|later than";
const AHEAD = "ahead of|in front of|before|above|to the left of|earlier than";
const LIST = /\p{Lu}[\p{L}-]*(?:, \p{Lu}[\p{L}-]*)+(?:,? and \p{Lu}[\p{L}-]*)?/gu;

/** The place of an item in a row, 1 for the first. */
type Places = ReadonlyMap<string, number>;
type Clue = (places: Places) => boolean;

/** The order of up to eight named things in one row, from clues about their places: by trying all orders. */
export const orderings: Solver = ({ prompt }) => {
  const lists = [...prompt.matchAll(LIST)].map(([text]) => ({ text, items: listed(text) }));
  const [longest] = lists.toSorted((a, b) => b.items.length - a.items.length);
  if (longest === undefined || longest.items.length < 3 || longest.items.length > MAX_ITEMS) return null;
  const { items } = longest;
  const after = prompt.slice(prompt.indexOf(longest.text) + longest.text.length);
  const sentences = sentencesOf(after).map((sentence) => sentence.replace(/^[-*•]\s+/u, ""));
  const mentions = (sentence: string) => items.some((item) => new RegExp(`\\b${literal(item)}\\b`, "u").test(sentence));
  const isClue = (sentence: string) =>
    mentions(sentence) && !/\?$|^\(?[A-H]\)|^(?:Give|Answer|Which|Who)\b/u.test(sentence);
  const clues = sentences.filter(isClue).map((sentence) => clueOf(sentence, items));
  if (clues.length === 0 || clues.includes(null)) return null;

  const orders = [...permutationsOf(items)].filter((order) => {
    const places: Places = new Map(order.map((item, index) => [item, index + 1]));
    return clues.every((clue) => clue?.(places));
  });
  const found = unanimous(orders.map((order) => askedOf(prompt, order) ?? ""));
  return found === null || found === "" ? null : { output: asChoice(prompt, found) };
};

/** What the prompt asks about the order. */
function askedOf(prompt: string, order: readonly string[]): string | undefined {
  const [, direction = "", item = ""] =
    new RegExp(`\\b(?:Which|Who)\\b[^.?]* directly (${BEHIND}|${AHEAD}) ([\\p{L}-]+)\\?`, "u").exec(prompt) ?? [];
  if (direction !== "") return order[order.indexOf(item) + (isBehind(direction) ? 1 : -1)];
  const [, end] = /\b(?:Which|Who)\b[^.?]* (first|last)\?/u.exec(prompt) ?? [];
  if (end !== undefined) return end === "first" ? order[0] : order.at(-1);
  if (!/\bgive the order\b/iu.test(prompt)) return undefined;
  return order.join(/\bhyphens?\b/u.test(prompt) ? "-" : ", ");
}

function clueOf(sentence: string, items: readonly string[]): Clue | null {
  const name = `(${items.map(literal).join("|")})`;
  const relation = `(${BEHIND}|${AHEAD})`;
  const match = (pattern: string) => captured(pattern, sentence);
  const gap = (later: string, earlier: string) => (places: Places) => at(places, later) - at(places, earlier);
  const last = items.length;

  const distance = match(`${name} \\w+ exactly (\\w+) positions? ${relation} ${name}`);
  if (distance) {
    const [a, count, direction, b] = distance;
    const steps = countOf(count);
    const between = isBehind(direction) ? gap(a, b) : gap(b, a);
    return steps === null ? null : (places) => between(places) === steps;
  }
  const directly = match(`${name} \\w+ (?:directly|immediately) ${relation} ${name}`);
  if (directly) {
    const [a, direction, b] = directly;
    const between = isBehind(direction) ? gap(a, b) : gap(b, a);
    return (places) => between(places) === 1;
  }
  const somewhere = match(`${name} \\w+ (?:somewhere )?${relation} ${name}`);
  if (somewhere) {
    const [a, direction, b] = somewhere;
    const between = isBehind(direction) ? gap(a, b) : gap(b, a);
    return (places) => between(places) > 0;
  }
  const neighbours = match(`${name} and ${name} \\w+ (?:directly )?next to each other`);
  if (neighbours) return (places) => Math.abs(gap(neighbours[0], neighbours[1])(places)) === 1;
  const directed = match(
    `${name} \\w+ somewhere between ${name} and ${name}, with ${name} ahead of it and ${name} behind it`,
  );
  if (directed)
    return (places) => gap(directed[0], directed[3])(places) > 0 && gap(directed[4], directed[0])(places) > 0;
  const within = match(`${name} \\w+ (?:somewhere )?between ${name} and ${name}`);
  if (within) {
    const [middle, a, b] = within;
    return (places) => Math.sign(gap(middle, a)(places)) === Math.sign(gap(b, middle)(places));
  }
  const parted = match(`Exactly (\\w+) [\\p{L}]+ \\w+ between ${name} and ${name}`);
  if (parted) {
    const [count, a, b] = parted;
    const between = countOf(count);
    return between === null ? null : (places) => Math.abs(gap(a, b)(places)) === between + 1;
  }
  const parity = match(`${name} \\w+ at an? (even|odd) position`);
  if (parity) return (places) => at(places, parity[0]) % 2 === (parity[1] === "odd" ? 1 : 0);
  return endClue(sentence, name, last);
}

/** A clue about the two ends of the row: who stands there, or does not. */
function endClue(sentence: string, name: string, last: number): Clue | null {
  const match = (pattern: string) => captured(pattern, sentence);
  const end = "(first|last|at the top|at the bottom)";
  const place = (word: string) => (word === "first" || word === "at the top" ? 1 : last);
  const neither = match(`Neither ${name} nor ${name} is ${end}`);
  if (neither) {
    const [a, b, where] = neither;
    return (places) => at(places, a) !== place(where) && at(places, b) !== place(where);
  }
  const nowhere = match(`${name} is (?:neither at the top nor at the bottom|at neither end|neither first nor last)`);
  if (nowhere) return (places) => at(places, nowhere[0]) !== 1 && at(places, nowhere[0]) !== last;
  const not = match(`${name} is not ${end}`);
  if (not) return (places) => at(places, not[0]) !== place(not[1]);
  const is = match(`${name} is ${end}`);
  return is ? (places) => at(places, is[0]) === place(is[1]) : null;
}

function at(places: Places, item: string): number {
  return places.get(item) ?? Number.NaN;
}

function isBehind(direction: string): boolean {
  return BEHIND.split("|").includes(direction);
}
