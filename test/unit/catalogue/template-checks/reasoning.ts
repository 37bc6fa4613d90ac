import { type Check, forEachOrder, groups, inputOf, numbers, only } from "./support.ts";

const truthTellers: Check = (task) => {
  const { statements } = inputOf<{ statements: { speaker: string; says: string }[] }>(task);
  const names = statements.map(({ speaker }) => speaker);
  const worlds = Array.from({ length: 2 ** names.length }, (_, world) => world).filter((world) => {
    const honest = (name = "") => Math.floor(world / 2 ** names.indexOf(name)) % 2 === 1;
    return statements.every(({ speaker, says }) => {
      const [b, c] = says.match(/\b[A-Z][a-z]+\b/g)?.filter((word) => names.includes(word)) ?? [];
      const count = /Exactly (\d)/.exec(says)?.[1];
      let truth = !honest(b);
      if (count !== undefined) truth = names.filter(honest).length === Number(count);
      else if (says.includes("same kind")) truth = honest(b) === honest(c);
      else if (says.startsWith("At least one")) truth = !honest(b) || !honest(c);
      return truth === honest(speaker);
    });
  });
  const world = only(worlds);
  return names.filter((_, i) => Math.floor(world / 2 ** i) % 2 === 1);
};

const rowOrder: Check = (task) => {
  const { people, clues } = inputOf<{ people: string[]; clues: string[] }>(task);
  const tests = clues.map((clue): ((at: (name: string) => number) => boolean) => {
    if (clue.includes("neither end")) {
      const [a = ""] = groups(/^(\w+) sits/, clue);
      return (at) => ![0, people.length - 1].includes(at(a));
    }
    if (clue.includes("to the left")) {
      const [a = "", b = ""] = groups(/^(\w+) sits .* of (\w+)\.$/, clue);
      return (at) => at(b) - at(a) > 0;
    }
    const [a = "", b = "", between] = groups(/between (\w+) and (\w+) is (\d)\.$/, clue);
    return (at) => Math.max(at(a), at(b)) - Math.min(at(a), at(b)) - 1 === Number(between);
  });
  const found: string[][] = [];
  forEachOrder(people, (order) => {
    if (tests.every((holds) => holds((name) => order.indexOf(name)))) found.push([...order]);
  });
  return { order: only(found) };
};

const swapTracking: Check = (task) => {
  const { people, start, events } = inputOf<{ people: string[]; start: Record<string, string>; events: string[] }>(
    task,
  );
  let hands = { ...start };
  const swap = (a = "", b = "") => {
    hands = { ...hands, [a]: hands[b] ?? "", [b]: hands[a] ?? "" };
  };
  for (const event of events) {
    if (event.startsWith("Everybody")) {
      const objects = people.map((person) => hands[person] ?? "");
      hands = Object.fromEntries(people.map((person, i) => [person, objects.at(i - 1) ?? ""]));
    } else if (event.startsWith("Whoever")) {
      const [object, taker] = groups(/holds the (\w+) swaps with (\w+);/, event);
      swap(
        people.find((person) => hands[person] === object),
        taker,
      );
    } else if (event.startsWith("If")) {
      const [a = "", x, y, b, c, d, e] = groups(
        /^If (\w+) holds the (\w+) or the (\w+), (\w+) and (\w+) swap; otherwise (\w+) and (\w+) swap\.$/,
        event,
      );
      if ([x, y].includes(hands[a])) swap(b, c);
      else swap(d, e);
    } else {
      const [a, b] = groups(/^(\w+) and (\w+) swap/, event);
      swap(a, b);
    }
  }
  return hands;
};

interface Household {
  id: string;
  dependants: number;
  monthly_income: number;
  resident_months: number;
  years_since_last_grant: number | null;
}

const rulePrecedence: Check = (task) => {
  const [recent = 0, many = 0, high = 0, low = 0, settled = 0, longSettled = 0] = numbers(
    /was (\d+) years.* with (\d+) or more.* under (\d+), .* of (\d+) or less.* than (\d+) months.* for (\d+) months/s,
    task.prompt,
  );
  const approved = inputOf<{ households: Household[] }>(task).households.filter((h) => {
    let decision = h.dependants >= 1 && h.resident_months >= longSettled;
    if (h.monthly_income <= low) decision = h.resident_months > settled;
    if (h.dependants >= many) decision = h.monthly_income < high;
    return decision && (h.years_since_last_grant ?? Number.POSITIVE_INFINITY) > recent;
  });
  return approved.map(({ id }) => id);
};

/** Second computations for the templates of `reasoning`. */
export const reasoningChecks: Record<string, Check> = {
  "truth-tellers": truthTellers,
  "row-order": rowOrder,
  "swap-tracking": swapTracking,
  "rule-precedence": rulePrecedence,
};
