import { expect, test } from "vitest";
import { KEPT } from "../../migrations/kept.ts";
import { modules } from "./sources.ts";

test("every statement that is to be kept is in the list that the migration installs", () => {
  const declared = modules()
    .flatMap(({ text }) => [...text.matchAll(/^export const \w+ = (?:kept|inSeries)\(\s*"(\w+)"/gm)])
    .map(([, label = ""]) => label);
  expect(KEPT.map(({ name }) => name.replace(/^kept_(\w+)_[0-9a-f]{12}$/, "$1")).toSorted()).toEqual(
    declared.toSorted(),
  );
  expect(declared.length).toBeGreaterThanOrEqual(14);
});
