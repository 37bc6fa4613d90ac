import { describe, expect, test } from "vitest";
import { templatesById } from "../../../shared/templates/index.ts";
import { DRAWS, drawsOf, passesInstance, solved } from "./draws.ts";

/** How an agent that does all else right misreads what it is asked, by habit. */
const HABITS: [id: string, habit: string, misread: (text: string) => string, most: number][] = [
  [
    "math-invoice-rounding",
    "takes every tie up",
    (text) => text.replaceAll(/a tie going (to the even cent|up|down)/g, "a tie going up"),
    0,
  ],
  [
    "math-invoice-rounding",
    "takes every tie to the even cent",
    (text) => text.replaceAll(/a tie going (to the even cent|up|down)/g, "a tie going to the even cent"),
    0,
  ],
  [
    "tools-heating-plan",
    "rounds to the nearest",
    (text) => text.replace(/rounded (down|up) to a half degree/, "rounded to the nearest half degree"),
    0.38,
  ],
  [
    "tools-heating-plan",
    "rounds down",
    (text) => text.replace(/rounded (to the nearest half|up to a half) degree/, "rounded down to a half degree"),
    0.38,
  ],
  [
    "tools-courier-details",
    "asks for the address of the pickup first, and for the weight last",
    (text) => text.replace(/in the order (\w+, \w+, \w+)/, "in the order pickup, delivery, weight"),
    0.2,
  ],
  [
    "extraction-gateway-log",
    "takes all that is not ok to have failed",
    (text) => {
      const [failure = ""] = /has the result `(\w+)`/.exec(text)?.slice(1) ?? [];
      return text.replaceAll(/result=(error|timeout|refused|aborted)/g, `result=${failure}`);
    },
    0,
  ],
];

describe.each(HABITS)("%s", (id, habit, misread, most) => {
  test(`is seldom passed by who ${habit}`, () => {
    const template = templatesById.get(id);
    if (template === undefined) throw new Error(`There is no template ${id}.`);
    const passed = drawsOf(template).filter(({ instance }) => {
      const misled = JSON.parse(misread(JSON.stringify(instance))) as typeof instance;
      return passesInstance(instance, solved(id, misled, instance.output_format));
    });
    expect(passed.length / DRAWS).toBeLessThanOrEqual(most);
  });
});
