import { expect, test } from "vitest";
import { mapRoom } from "../../../shared/templates/core/reasoning/map-room.ts";
import { drawsOf } from "./draws.ts";

/** How often somebody is right who has read the choices, not the statements, and takes any one of those that are `liked`. */
function luck(liked: (choice: string) => boolean): number {
  const chances = drawsOf(mapRoom).map(({ instance: { prompt, expected_output } }) => {
    const taken = [...prompt.matchAll(/^[A-E]\) (.+)$/gm)].map(([, choice = ""]) => choice).filter(liked);
    return taken.some((choice) => choice === expected_output) ? 1 / taken.length : 0;
  });
  return chances.reduce((sum, chance) => sum + chance, 0) / chances.length;
}

test.each<[string, (choice: string) => boolean]>([
  ["of something that some are", (choice) => /^Some (?!.* not )/.test(choice)],
  ["of something that some are not", (choice) => /^Some .* not /.test(choice)],
  ["of some, whether are or are not", (choice) => choice.startsWith("Some ")],
  ["of all or none", (choice) => !choice.startsWith("Some ")],
])("whoever takes a choice %s without reading the statements passes at most three in ten", (_, liked) => {
  expect(luck(liked)).toBeLessThanOrEqual(0.3);
});
