import { permutations, subsets, zip } from "../../templates/lists.ts";
import { drawUntil, type Random } from "../../templates/random.ts";
import { prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";

interface Claim {
  text: string;
  holds: (honest: readonly string[]) => boolean;
}

const CLAIM_KINDS = ["liar", "liar", "same", "same", "either", "count"] as const;

function drawClaim(random: Random, kind: (typeof CLAIM_KINDS)[number], others: string[]): Claim {
  const [b, c] = random.sample(others, 2);
  const count = random.int(2, 4);
  switch (kind) {
    case "liar":
      return { text: `${b} is a liar.`, holds: (honest) => !honest.includes(b) };
    case "same":
      return {
        text: `${b} and ${c} are of the same kind.`,
        holds: (honest) => honest.includes(b) === honest.includes(c),
      };
    case "either":
      return {
        text: `At least one of ${b} and ${c} is a liar.`,
        holds: (honest) => !(honest.includes(b) && honest.includes(c)),
      };
    default:
      return {
        text: `Exactly ${count} of the six of us are truth-tellers.`,
        holds: (honest) => honest.length === count,
      };
  }
}

const truthTellers = defineTemplate(
  {
    id: "truth-tellers",
    title: "Six statements",
    domain: "reasoning",
    output_format: "json",
    reference_cost_usd: 0.009,
    reference_latency_ms: 12_000,
  },
  (random) => {
    const people = random.people(6);
    return drawUntil(() => {
      const kinds = random.shuffle(CLAIM_KINDS);
      const claims = zip(people, kinds).map(([speaker, kind]) => {
        const others = people.filter((person) => person !== speaker);
        return { speaker, ...drawClaim(random, kind, others) };
      });
      const possible = subsets(people).filter((honest) =>
        claims.every(({ speaker, holds }) => honest.includes(speaker) === holds(honest)),
      );
      const [honest] = possible;
      if (possible.length !== 1 || honest === undefined || honest.length < 2 || honest.length > 4) return undefined;
      return {
        prompt: prose(
          "Each of six people is either a truth-teller, whose every statement is true, or a liar, whose every statement",
          "is false. The input holds one statement of each. Who are the truth-tellers? Answer with a JSON array of",
          "their names and nothing else; the order does not matter.",
        ),
        input: { statements: claims.map(({ speaker, text }) => ({ speaker, says: text })) },
        grader: { type: "set_f1" },
        expected_output: honest,
      };
    });
  },
);

interface Clue {
  text: string;
  holds: (row: readonly string[]) => boolean;
}

/** All clues of three kinds that are true of the row; few are about direct neighbours, which give too much away. */
function trueClues(random: Random, row: readonly string[]): Clue[] {
  const pairs = row.flatMap((a, i) => row.slice(i + 1).map((b) => ({ a, b, between: row.indexOf(b) - i - 1 })));
  const apart = pairs
    .filter(({ between }) => between > 0)
    .map(
      ({ a, b, between }): Clue => ({
        text: `The number of people between ${[a, b].toSorted().join(" and ")} is ${between}.`,
        holds: (order) => Math.abs(order.indexOf(a) - order.indexOf(b)) === between + 1,
      }),
    );
  const leftOf = pairs.map(
    ({ a, b }): Clue => ({
      text: `${a} sits somewhere to the left of ${b}.`,
      holds: (order) => order.indexOf(a) < order.indexOf(b),
    }),
  );
  const inside = row.slice(1, -1).map(
    (a): Clue => ({
      text: `${a} sits at neither end.`,
      holds: (order) => order.indexOf(a) > 0 && order.indexOf(a) < order.length - 1,
    }),
  );
  return random.shuffle([...random.sample(apart, 4), ...random.sample(leftOf, 4), ...random.sample(inside, 2)]);
}

const rowOrder = defineTemplate(
  {
    id: "row-order",
    title: "A row of six",
    domain: "reasoning",
    output_format: "json",
    reference_cost_usd: 0.009,
    reference_latency_ms: 12_000,
  },
  (random) => {
    const row = random.people(6);
    const others = permutations(row).slice(1);
    const fixRow = (clues: readonly Clue[]) => !others.some((order) => clues.every(({ holds }) => holds(order)));
    return drawUntil(() => {
      const drawn = trueClues(random, row);
      if (!fixRow(drawn)) return undefined;
      const clues = drawn.reduce<Clue[]>((kept, clue) => {
        const without = kept.filter((other) => other !== clue);
        return fixRow(without) ? without : kept;
      }, drawn);
      if (clues.length < 5 || clues.length > 7) return undefined;
      return {
        prompt: prose(
          "Six people sit in one row and are named here as seen from the front, from left to right. The input holds",
          "their names in alphabetical order and what is known of their places. Only one order fits. Answer with a",
          'JSON object and nothing else: {"order": [the six names from left to right]}.',
        ),
        input: { people: row.toSorted(), clues: clues.map(({ text }) => text) },
        grader: { type: "json_fields" },
        expected_output: { order: row },
      };
    });
  },
);

const OBJECTS = ["lamp", "drum", "kettle", "compass", "scarf", "ledger", "whistle", "basket", "mirror"] as const;
const EVENT_KINDS = ["swap", "swap", "fetch", "fetch", "fetch", "if", "if", "if", "pass"] as const;

const swapTracking = defineTemplate(
  {
    id: "swap-tracking",
    title: "Who ends up with what",
    domain: "reasoning",
    output_format: "json",
    reference_cost_usd: 0.005,
    reference_latency_ms: 8000,
  },
  (random) => {
    const people = random.people(5);
    const objects = random.sample(OBJECTS, 5);
    const start = zip(objects, people).map(([object, holder]) => ({ object, holder }));
    let held = start;
    const holderOf = (object: string) => held.find((entry) => entry.object === object)?.holder;
    const swap = (a: string | undefined, b: string) => {
      held = held.map(({ object, holder }) => ({
        object,
        holder: (holder === a ? b : holder === b ? a : holder) ?? b,
      }));
    };
    const events = random.shuffle(EVENT_KINDS).map((kind) => {
      const [a, b, c, d] = random.sample(people, 4);
      const [x, y] = random.sample(objects, 2);
      switch (kind) {
        case "swap":
          swap(a, b);
          return `${a} and ${b} swap what they hold.`;
        case "fetch":
          swap(holderOf(x), a);
          return `Whoever holds the ${x} swaps with ${a}; if that is ${a}, nothing happens.`;
        case "if":
          if (holderOf(x) === a || holderOf(y) === a) swap(b, c);
          else swap(c, d);
          return `If ${a} holds the ${x} or the ${y}, ${b} and ${c} swap; otherwise ${c} and ${d} swap.`;
        default:
          held = held.map(({ object, holder }) => ({
            object,
            holder: people[(people.indexOf(holder) + 1) % people.length] ?? holder,
          }));
          return "Everybody passes on at once: each to the next person of the list, the last to the first.";
      }
    });
    return {
      prompt: prose(
        "Five people hold one object each. The input lists the people, what each holds at the start, and what happens,",
        "in order. Answer with a JSON object and nothing else that maps each person to the object held at the end.",
      ),
      input: { people, start: Object.fromEntries(start.map(({ object, holder }) => [holder, object])), events },
      grader: { type: "json_fields" },
      expected_output: Object.fromEntries(held.map(({ object, holder }) => [holder, object])),
    };
  },
);

const rulePrecedence = defineTemplate(
  {
    id: "rule-precedence",
    title: "Rules in order",
    domain: "reasoning",
    output_format: "json",
    reference_cost_usd: 0.006,
    reference_latency_ms: 9000,
  },
  (random) => {
    const [donor] = random.companies(1);
    const recent = random.int(2, 5);
    const many = random.int(3, 4);
    const low = 50 * random.int(30, 40);
    const high = low + 50 * random.int(8, 16);
    const settled = random.int(12, 20);
    const longSettled = settled + random.int(8, 24);
    return drawUntil(() => {
      const around = (centres: number[], step: number) => random.pick(centres) + step * random.int(-1, 1);
      const households = random.codes("H", 10).map((id) => ({
        id,
        dependants: random.int(0, many + 1),
        monthly_income: around([low, high], 10),
        resident_months: around([settled, longSettled], 1),
        years_since_last_grant: random.pick([null, null, null, recent - 1, recent, recent + 1]),
      }));
      const decisions = households.map((h) => {
        const since = h.years_since_last_grant;
        if (since !== null && since <= recent) return { id: h.id, rule: 1, approved: false };
        if (h.dependants >= many) return { id: h.id, rule: 2, approved: h.monthly_income < high };
        if (h.monthly_income <= low) return { id: h.id, rule: 3, approved: h.resident_months > settled };
        if (h.dependants > 0 && h.resident_months >= longSettled) return { id: h.id, rule: 4, approved: true };
        return { id: h.id, rule: 5, approved: false };
      });
      const approved = decisions.filter((decision) => decision.approved).map(({ id }) => id);
      if (new Set(decisions.map(({ rule }) => rule)).size < 5 || approved.length < 3 || approved.length > 6)
        return undefined;
      return {
        prompt: prose(
          `The fund of ${donor} decides on each household of the input by the first of these rules that applies to it.`,
          `1. A household whose last grant was ${recent} years ago or less is declined (null means it never had one).`,
          `2. A household with ${many} or more dependants is approved if its monthly income is under ${high}, else declined.`,
          `3. A household with a monthly income of ${low} or less is approved if it has been resident for more than`,
          `${settled} months, else declined.`,
          `4. A household with at least one dependant that has been resident for ${longSettled} months or longer is approved.`,
          "5. Everyone else is declined.",
          "Answer with a JSON array of the ids of the approved households and nothing else; the order does not matter.",
        ),
        input: { households },
        grader: { type: "set_f1" },
        expected_output: approved,
      };
    });
  },
);

/** Templates of the domain `reasoning`. */
export const reasoningTemplates = [truthTellers, rowOrder, swapTracking, rulePrecedence];
