import { expect, test } from "vitest";
import { textOf } from "../../../shared/grading/text.ts";
import { libraryNotice } from "../../../shared/templates/core/instruction-following/library-notice.ts";
import { tentList } from "../../../shared/templates/core/instruction-following/tent-list.ts";
import { DRAWS, type Drawn, drawsOf, passesInstance } from "./draws.ts";
import { groups } from "./solvers/support.ts";

/** What makes of a right text one that breaks the rule that is named. */
type Spoil = Record<string, (text: string, drawn: Drawn) => string>;

const wordOf = (pattern: RegExp, { instance }: Drawn) => groups(pattern, instance.prompt)[0]?.split(", ")[0] ?? "";
const many = (words: string) => `${words} `.repeat(25);

const NOTICE: Spoil = {
  "a paragraph too many": (text) => text.replace("\nA word", "\n\nA word"),
  "a paragraph too few": (text) => text.replace("\n\n", "\n"),
  "too few words": (text) => text.replace(/( as ever)+/, ""),
  "too many words": (text) => text.replace("All else", `${many("Or so")} All else`),
  "another opening": (text) => text.replace("Dear", "To all"),
  "a line in front": (text) => `Notice\n${text}`,
  "a full stop at the end": (text) => `${text}.`,
  "a missing word": (text, drawn) => text.replace(wordOf(/contains the words (.+)\./, drawn), "that"),
  "a comma": (text) => text.replace("\nA word", ",\nA word"),
  "a forbidden word": (text, drawn) => text.replace("as ever", wordOf(/not contain the words (.+)\./, drawn)),
};
const barred = /The words (.+) do not occur/;
const cased = (text: string, word: string) => (text === text.toUpperCase() ? word.toUpperCase() : word);
const LIST: Spoil = {
  "the other case": (text) => (text === text.toUpperCase() ? text.replace("SEE", "See") : text.replace("see", "See")),
  "a bullet too many": (text) => text.replace(/^(..)/, `$1${cased(text, "go")}\n$1`),
  "a bullet too few": (text) => text.replace(/\n. /, " "),
  "a gap": (text) => text.replace("\n", "\n\n"),
  "another mark": (text) => text.replace(/^./, "+"),
  "a missing word": (text, drawn) =>
    text.replace(new RegExp(wordOf(/The words (.+) occur\./, drawn), "i"), cased(text, "that")),
  "a forbidden word": (text, drawn) => text.replace(/your/i, cased(text, wordOf(barred, drawn))),
  "the small word": (text, drawn) => text.replace(/your/i, cased(text, wordOf(/neither does the word (\w+)/, drawn))),
  "too many words": (text) => text.replace(/relax/i, cased(text, many("rest or sit"))),
  "a full stop at the end": (text) => `${text}.`,
};

const cases = [
  { template: libraryNotice, spoils: NOTICE },
  { template: tentList, spoils: LIST },
].flatMap(({ template, spoils }) => Object.entries(spoils).map(([fault, spoil]) => ({ template, fault, spoil })));

test.each(cases)(
  "$template.id: a right text with $fault never passes",
  { timeout: 60_000 + 60 * DRAWS },
  ({ template, spoil }) => {
    const passed = drawsOf(template, 100)
      .map((drawn) => ({ drawn, right: textOf(drawn.answer.output ?? "") }))
      .map(({ drawn, right }) => ({ drawn, right, text: spoil(right, drawn) }))
      .filter(({ drawn, right, text }) => text === right || passesInstance(drawn.instance, { output: text }));
    expect(passed.slice(0, 2)).toEqual([]);
  },
);
