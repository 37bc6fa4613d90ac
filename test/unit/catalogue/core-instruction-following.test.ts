import { describe, expect, test } from "vitest";
import { coreTask, inputOf, keyOf, passes } from "./core-support.ts";

describe("core-instructions-library-notice", () => {
  const task = coreTask("core-instructions-library-notice");
  const notice =
    "Dear readers\nthe reading room stays closed on Thursday because the boiler is being replaced. We open again on Friday at nine.\n\nPlease put your returns into the box at the side door. It is emptied twice a day and no fees are charged for that day.\nThe library team";

  test("a notice that keeps all rules passes", () => {
    expect(passes(task, { output: notice })).toBe(true);
  });

  test.each([
    ["a comma", notice.replace("Dear readers", "Dear readers,")],
    ["a third paragraph", notice.replace("\nThe library", "\n\nThe library")],
    ["a missing word", notice.replace("returns", "books")],
    ["a forbidden word", notice.replace("We open", "Sorry! We open")],
    ["too few words", notice.replace(/It is emptied.*day\./, "")],
    ["too many words", notice.replace("Friday", `Friday ${"or later ".repeat(6)}`)],
    ["another opening", `Notice\n${notice}`],
    ["a full stop at the end", `${notice}.`],
  ])("the same notice with %s fails", (_fault, output) => {
    expect(passes(task, { output })).toBe(false);
  });
});

describe("core-instructions-tent-list", () => {
  const task = coreTask("core-instructions-tent-list");
  const list =
    "- shake off the drops\n- hang it in the shade\n- open every zip\n- wipe the poles\n- wait one night then check again tomorrow";

  test("a list that keeps all rules passes", () => {
    expect(passes(task, { output: list })).toBe(true);
  });

  test.each([
    ["a capital", list.replace("shake", "Shake")],
    ["a sixth bullet", list.replace("- open", "- breathe\n- open")],
    ["a forbidden word", list.replace("drops", "water")],
    ["a missing word", list.replace("shade", "shadow")],
    ["too many words", list.replace("night", `night ${"or two ".repeat(15)}`)],
    ["a full stop at the end", `${list}.`],
    ["an opening line", `advice:\n${list}`],
    ["a gap in the list", list.replace("\n- open", "\n\n- open")],
  ])("the same list with %s fails", (_fault, output) => {
    expect(passes(task, { output })).toBe(false);
  });
});

describe("core-instructions-observatory-plan", () => {
  const task = coreTask("core-instructions-observatory-plan");
  const plan = () => ({
    site: { name: "Brae Head", altitude_m: 1200 },
    observations: [
      {
        target: "Lyra A",
        start_hour: 21,
        duration_min: 60,
        filter: "red",
        priority: 1,
        comment: "low in the west",
      } as Record<string, string | number | null>,
      { target: "Orin 4", start_hour: 23, duration_min: 45, filter: null, priority: 2 },
      { target: "Vesk", start_hour: 2, duration_min: 90, filter: "clear", priority: 3 },
    ],
  });

  test("a plan that is valid passes, as JSON or as its text", () => {
    expect(passes(task, { output: plan() })).toBe(true);
    expect(passes(task, { output: JSON.stringify(plan()) })).toBe(true);
  });

  test.each<[string, (draft: ReturnType<typeof plan>) => unknown]>([
    ["an hour by day", ({ observations }) => Object.assign(observations[2] ?? {}, { start_hour: 12 })],
    ["a duration off the grid", ({ observations }) => Object.assign(observations[1] ?? {}, { duration_min: 50 })],
    ["a filter that is unknown", ({ observations }) => Object.assign(observations[1] ?? {}, { filter: "none" })],
    ["no comment on priority 1", ({ observations }) => delete observations[0]?.comment],
    ["a comment on priority 2", ({ observations }) => Object.assign(observations[1] ?? {}, { comment: "faint" })],
    [
      "two of priority 1",
      ({ observations }) => Object.assign(observations[1] ?? {}, { priority: 1, comment: "faint" }),
    ],
    ["only two observations", ({ observations }) => observations.pop()],
    ["the same observation twice", ({ observations }) => observations.push({ ...observations[2] })],
    ["a field too many", (draft) => Object.assign(draft, { date: "2031-01-01" })],
  ])("the same plan with %s fails", (_fault, spoil) => {
    const draft = plan();
    spoil(draft);
    expect(passes(task, { output: draft })).toBe(false);
  });
});

describe("core-instructions-word-edits", () => {
  test("the key is what the steps give when they are carried out", () => {
    const { words, steps } = inputOf<{ words: string[]; steps: string[] }>("core-instructions-word-edits");
    const reversed = (word: string) => word.split("").toReversed().join("");
    const edits: Record<string, (list: string[]) => string[]> = {
      "Swap the first and the last word.": (list) => [list.at(-1) ?? "", ...list.slice(1, -1), list[0] ?? ""],
      "Delete every word of exactly five letters.": (list) => list.filter((word) => word.length !== 5),
      "Put the word “reed” behind the third word.": (list) => list.toSpliced(3, 0, "reed"),
      "Reverse the order of the whole list.": (list) => list.toReversed(),
      "Write the word at position 2 in capitals.": (list) => list.with(1, (list[1] ?? "").toUpperCase()),
      "If the list now has an odd number of words, delete the middle one; otherwise delete the first one.": (list) =>
        list.toSpliced(list.length % 2 === 1 ? (list.length - 1) / 2 : 0, 1),
      "Move the last word to the front.": (list) => [list.at(-1) ?? "", ...list.slice(0, -1)],
      "Reverse the letters of the word at position 3.": (list) => list.with(2, reversed(list[2] ?? "")),
    };
    expect(steps).toEqual(Object.keys(edits));
    expect(
      Object.values(edits)
        .reduce((list, edit) => edit(list), words)
        .join(" "),
    ).toBe(keyOf("core-instructions-word-edits"));
  });
});
