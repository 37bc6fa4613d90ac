import * as z from "zod";
import type { Solver } from "./kind.ts";
import { countOf, numberAsAsked } from "./text.ts";
import { dayAfter, WEEKDAYS, weekdayOf } from "./time.ts";

const MAX_DAYS = 20_000;
const MAX_LENGTH = 200;

const Row = z.record(z.string(), z.json());

/** The mean of several groups taken together: each group's own mean, weighted by its size. */
export const groupMean: Solver = ({ prompt, input }) => {
  if (!/\b(?:mean|average)\b/iu.test(prompt) || !/\b(?:together|combined|overall|altogether)\b/iu.test(prompt))
    return null;
  const rows = Object.values(Row.safeParse(input).data ?? {}).map((value) => z.array(Row).min(2).safeParse(value).data);
  const groups = rows.find((found) => found !== undefined);
  const numeric = Object.keys(groups?.[0] ?? {}).filter((name) =>
    groups?.every((group) => typeof group[name] === "number"),
  );
  const mean = numeric.find((name) => /^(?:mean|average|avg)_/u.test(name));
  const [size, ...others] = numeric.filter((name) => name !== mean);
  if (groups === undefined || mean === undefined || size === undefined || others.length > 0) return null;
  const total = groups.reduce((sum, group) => sum + Number(group[size]), 0);
  const weighted = groups.reduce((sum, group) => sum + Number(group[size]) * Number(group[mean]), 0);
  return total > 0 ? { output: numberAsAsked(prompt, weighted / total) } : null;
};

/**
 * The date on which steady work reaches a given piece: so many pieces on a working day, other numbers on named days of
 * the week, none on Saturdays, Sundays and `closed` days.
 */
export const workingDays: Solver = ({ prompt, input }) => {
  const plan = z
    .looseObject({ first_day: z.iso.date(), closed: z.array(z.iso.date()).default([]) })
    .safeParse(input).data;
  if (plan === undefined || !/\b(?:date|day)\b/iu.test(prompt)) return null;
  const stem = Object.keys(plan)
    .find((name) => name.endsWith("_per_day"))
    ?.slice(0, -"_per_day".length);
  if (stem === undefined) return null;
  const piece = stem.replace(/s$/u, "");
  const amount = (name: string) => (typeof plan[name] === "number" ? plan[name] : undefined);
  const target = amount(piece);
  const daily = amount(`${stem}_per_day`);
  if (target === undefined || daily === undefined) return null;
  let done = (amount(`first_${piece}`) ?? 1) - 1;
  let day = plan.first_day;
  for (let days = 0; days < MAX_DAYS; days += 1, day = dayAfter(day)) {
    const weekday = weekdayOf(day);
    if (weekday === WEEKDAYS[0] || weekday === WEEKDAYS[6] || plan.closed.includes(day)) continue;
    done += amount(`${stem}_on_${weekday}`) ?? daily;
    if (done >= target) return { output: day };
  }
  return null;
};

/** The number of ways to fill a row of a given length with pieces of given lengths, of which some must not touch. */
export const rowsOfPieces: Solver = ({ prompt }) => {
  if (!/how many ways/iu.test(prompt)) return null;
  const length = Number(/\b(\d+) (?:units|metres|feet|cells|squares) long\b/iu.exec(prompt)?.[1] ?? Number.NaN);
  const pieces = /\b(?:that are|of lengths?) (\d+(?:(?:, | or | and |, or |, and )\d+)+)/iu
    .exec(prompt)?.[1]
    ?.match(/\d+/gu)
    ?.map(Number);
  if (pieces === undefined || pieces.includes(0) || !(length <= MAX_LENGTH)) return null;
  const apart = [...prompt.matchAll(/\b(\w+) \w+ of length (\d+) must (?:never|not) [^.]*next to/giu)];
  if (apart.some(([, count = ""]) => countOf(count) !== 2)) return null;
  const single = new Set(apart.map(([, , size]) => Number(size)));
  const ways = [new Map([[0, 1]])];
  for (let filled = 1; filled <= length; filled += 1) {
    const byLast = new Map<number, number>();
    for (const piece of pieces) {
      for (const [last, count] of ways[filled - piece] ?? []) {
        if (last !== piece || !single.has(piece)) byLast.set(piece, (byLast.get(piece) ?? 0) + count);
      }
    }
    ways.push(byLast);
  }
  return { output: String([...(ways[length]?.values() ?? [])].reduce((sum, count) => sum + count, 0)) };
};
