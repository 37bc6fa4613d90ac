import * as z from "zod";
import type { Solver } from "./kind.ts";
import { captured, countOf, ordinalOf } from "./text.ts";

const Edits = z.object({ words: z.array(z.string()), steps: z.array(z.string()) });
const PLACE = "(?:the )?((?:word )?at position \\d+|\\w+ (?:word|one)|\\w+)";

/** An edit makes a new list of words. */
type Edit = (words: readonly string[]) => string[];

/** A list of words after edits in plain English, made one after another. */
export const listEdits: Solver = ({ input }) => {
  const data = Edits.safeParse(input).data;
  if (data === undefined) return null;
  let { words } = data;
  for (const step of data.steps) {
    const edit = editOf(step.trim().replace(/\.$/u, ""));
    if (edit === null) return null;
    words = edit(words);
  }
  return { output: words.join(" ") };
};

function editOf(step: string): Edit | null {
  const match = (pattern: string) => captured(pattern, step);

  const choice = match("If [^,;]*\\b(odd|even)\\b[^,;]*, (.+); (?:otherwise|else),? (.+)");
  if (choice) {
    const [then, otherwise] = [editOf(choice[1]), editOf(choice[2])];
    const rest = choice[0].toLowerCase() === "odd" ? 1 : 0;
    return then && otherwise && ((words) => (words.length % 2 === rest ? then(words) : otherwise(words)));
  }
  const swap = match(`Swap ${PLACE} (?:and|with) ${PLACE}(?: words?)?`);
  if (swap) {
    return (words) => {
      const [a, b] = [indexOf(swap[0], words), indexOf(swap[1], words)];
      return words.map((word, index) => words[index === a ? b : index === b ? a : index] ?? word);
    };
  }
  const short = match("Delete every word of exactly (\\w+) letters");
  if (short) {
    const length = countOf(short[0]);
    return (words) => words.filter((word) => word.length !== length);
  }
  const insert = match(`(?:Put|Insert) the word [“"](.+?)[”"] (behind|after|before) ${PLACE}`);
  if (insert) {
    return (words) =>
      words.toSpliced(indexOf(insert[2], words) + (insert[1].toLowerCase() === "before" ? 0 : 1), 0, insert[0]);
  }
  const move = match(`Move ${PLACE} to the (front|end)`);
  if (move) {
    return (words) => {
      const at = indexOf(move[0], words);
      const [moved, rest] = [words.slice(at, at + 1), words.toSpliced(at, 1)];
      return move[1].toLowerCase() === "front" ? [...moved, ...rest] : [...rest, ...moved];
    };
  }
  if (match("Reverse (?:(?:the )?order of )?(?:the )?(?:whole |entire )?(?:list|words|order)"))
    return (words) => words.toReversed();
  const letters = match(`Reverse the letters of ${PLACE}`);
  if (letters) return changed(letters[0], (word) => Array.from(word).toReversed().join(""));
  const capitals = match(`Write ${PLACE} in capitals`);
  if (capitals) return changed(capitals[0], (word) => word.toUpperCase());
  const remove = match(`Delete ${PLACE}`);
  return remove ? (words) => words.toSpliced(indexOf(remove[0], words), 1) : null;
}

function changed(place: string, change: (word: string) => string): Edit {
  return (words) => {
    const at = indexOf(place, words);
    return words.map((word, index) => (index === at ? change(word) : word));
  };
}

/** The index that “the third word”, “the last one” or “the word at position 2” means in the list as it is. */
function indexOf(place: string, words: readonly string[]): number {
  const number = /\d+/u.exec(place)?.[0];
  if (number !== undefined) return Number(number) - 1;
  const [word = ""] = place.toLowerCase().split(" ");
  if (word === "last") return words.length - 1;
  if (word === "middle") return Math.floor(words.length / 2);
  return (ordinalOf(word) ?? words.length + 1) - 1;
}
