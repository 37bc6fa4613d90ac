import { isDeepStrictEqual } from "node:util";
import type { MintedTask } from "../../../../shared/suites/secret/types.ts";
import { type Check, groups, inputOf, numbers } from "./support.ts";

interface Notice {
  opening: string;
  closing: string;
  fewest: number;
  most: number;
  bullets: number;
  include: string[];
  exclude: string[];
}

function noticeOf({ prompt }: MintedTask): Notice {
  const [opening = "", closing = ""] = groups(/begins exactly with "(.+?)" and ends exactly with "(.+?)"\./, prompt);
  const [fewest = 0, most = 0, bullets = 0] = numbers(
    /at least (\d+) and at most (\d+) words, .* exactly (\d+) bullet lines/,
    prompt,
  );
  const [include = "", exclude = ""] = groups(/contains the words (.+?), and none of the words (.+?)\. /, prompt);
  return { opening, closing, fewest, most, bullets, include: include.split(", "), exclude: exclude.split(", ") };
}

/** The key is null; what is recomputed from the prompt is the list of rules. */
const residentsNotice: Check = (task) => {
  const notice = noticeOf(task);
  const rules = [
    { kind: "starts_with", text: notice.opening },
    { kind: "ends_with", text: notice.closing },
    { kind: "min_words", n: notice.fewest },
    { kind: "max_words", n: notice.most },
    { kind: "bullets", n: notice.bullets },
    { kind: "include", words: notice.include },
    { kind: "exclude", words: notice.exclude },
    { kind: "no_commas" },
  ];
  if (!isDeepStrictEqual(task.grader, { type: "constraints", rules })) throw new Error("prompt and rules differ");
  return null;
};

/** A notice that keeps all the rules which the prompt states. */
function sampleNotice(task: MintedTask): string {
  const { opening, closing, fewest, most, bullets, include } = noticeOf(task);
  const dry = Array.from(
    { length: bullets },
    (_, i) => `- Point ${i + 1} is about the ${include[i % include.length]}.`,
  );
  const filled = (words: number) => [opening, ...dry, `Note${" well".repeat(words)}.`, closing].join("\n");
  const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  const text = filled(Math.floor((fewest + most) / 2) - words(filled(0)));
  return text;
}

interface Lines {
  letters: string[];
  counts: number[];
  ending: number;
  last: string;
}

function linesOf({ prompt }: MintedTask): Lines {
  const [letters = "", counts = "", ending, last = ""] = groups(
    /begin with the letters (.+?), in this order, as capitals, and have (.+?) words, .* last word of line (\d) is "(\w+)"/,
    prompt,
  );
  return { letters: letters.split(", "), counts: counts.split(", ").map(Number), ending: Number(ending), last };
}

/** Lines that keep all the rules which the prompt states. */
function sampleLines(task: MintedTask): string {
  const { letters, counts, ending, last } = linesOf(task);
  const rows = letters.map((letter, i) => {
    const words = Array.from({ length: (counts[i] ?? 0) - 1 }, () => "dew");
    const row = [`${letter}o`, ...words];
    return `${(i + 1 === ending ? [...row.slice(0, -1), last] : row).join(" ")}.`;
  });
  return rows.join("\n");
}

/** The key is null; the pattern must take lines that keep the rules, and none that break one of them. */
const letterLines: Check = (task) => {
  if (task.grader.type !== "regex") throw new Error("not a regex task");
  const pattern = new RegExp(task.grader.pattern);
  const sample = sampleLines(task);
  const { last } = linesOf(task);
  const broken = [
    sample.replace("dew", "dew dew"),
    sample.replace("dew ", ""),
    sample.replace(`${last}.`, "dew."),
    sample.toLowerCase(),
    sample.replace(".\n", "\n"),
    sample.replace("\n", "\n\n"),
    sample.split("\n").toReversed().join("\n"),
    `${sample}\nOne more line.`,
  ];
  if (!pattern.test(sample) || broken.some((text) => pattern.test(text))) throw new Error("prompt and pattern differ");
  return null;
};

interface Item {
  name: string;
  aisle: string;
  quantity: number;
  fragile: boolean;
}

const pickList: Check = (task) => {
  const [least = 0] = numbers(/quantity below (\d+)\./, task.prompt);
  const items = inputOf<{ items: Item[] }>(task).items.filter(({ quantity }) => quantity >= least);
  const rows: string[] = [];
  for (const aisle of "ABCDEF".split("")) {
    const shelf = items.filter((item) => item.aisle === aisle);
    // Sorting by name first and then, stably, by quantity gives both orders at once.
    const sorted = shelf.toSorted((a, b) => a.name.localeCompare(b.name)).toSorted((a, b) => b.quantity - a.quantity);
    sorted.forEach(({ name, quantity, fragile }, i) => {
      const suffix = fragile ? " !" : "";
      rows.push(`${aisle}0${i + 1} ${name.toUpperCase()} x${quantity}${suffix}`);
    });
  }
  return [...rows, `SUM ${items.reduce((sum, { quantity }) => sum + quantity, 0)}`].join("\n");
};

/** Second computations for the templates of `instruction_following`. */
export const writingChecks: Record<string, Check> = {
  "residents-notice": residentsNotice,
  "letter-lines": letterLines,
  "pick-list": pickList,
};

/** Answers that must pass, for the templates whose key is null. */
export const sampleAnswers: Record<string, (task: MintedTask) => string> = {
  "residents-notice": sampleNotice,
  "letter-lines": sampleLines,
};
