import { allGroups, groups, inputOf, only, permutations, type Solver, subsets } from "./support.ts";

const NUMBERS = ["zero", "one", "two", "three", "four", "five"];

const lighthouseFive: Solver = ({ prompt }) => {
  const said = allGroups(/^(\w+): “(.+)”$/gm, prompt);
  const names = said.map(([name = ""]) => name);
  const isTrue = (text: string, honest: readonly string[]): boolean => {
    const tells = (name: string | undefined) => honest.includes(name ?? "");
    const [, bound, count = ""] = /^(At least|Exactly) (\w+) of the five/.exec(text) ?? [];
    if (bound === "At least") return honest.length >= NUMBERS.indexOf(count);
    if (bound === "Exactly") return honest.length === NUMBERS.indexOf(count);
    const [a, b] = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
    if (text.includes("are of the same kind")) return tells(a) === tells(b);
    if (text.startsWith("Exactly one of")) return tells(a) !== tells(b);
    if (text.includes("both lie")) return !tells(a) && !tells(b);
    const [condition, then] = groups(/^If (\w+) tells the truth, then so does (\w+)\.$/, text);
    return !tells(condition) || tells(then);
  };
  const honest = only(
    subsets(names).filter((some) => said.every(([name = "", text = ""]) => isTrue(text, some) === some.includes(name))),
  );
  return names.map((name) => (honest.includes(name) ? "T" : "L")).join("");
};

type Order = readonly string[];
const CLUES: [RegExp, (order: Order, named: string[]) => boolean][] = [
  [
    /^(\w+) drives exactly (\w+) positions behind (\w+)\.$/,
    (order, [behind = "", count = "", ahead = ""]) =>
      order.indexOf(behind) - order.indexOf(ahead) === NUMBERS.indexOf(count),
  ],
  [
    /^(\w+) and (\w+) are next to each other\.$/,
    (order, [a = "", b = ""]) => Math.abs(order.indexOf(a) - order.indexOf(b)) === 1,
  ],
  [
    /^(\w+) is somewhere between \w+ and \w+, with (\w+) ahead of it and (\w+) behind it\.$/,
    (order, [middle = "", ahead = "", behind = ""]) =>
      order.indexOf(ahead) < order.indexOf(middle) && order.indexOf(middle) < order.indexOf(behind),
  ],
  [
    /^(\w+) is somewhere behind (\w+)\.$/,
    (order, [behind = "", ahead = ""]) => order.indexOf(behind) > order.indexOf(ahead),
  ],
  [/^Neither (\w+) nor (\w+) is last\.$/, (order, named) => !named.includes(order.at(-1) ?? "")],
  [/^(\w+) is not first\.$/, (order, [float]) => order[0] !== float],
];

const orders = permutations([0, 1, 2, 3, 4, 5, 6]);

const paradeFloats: Solver = ({ prompt }) => {
  const [listed = "", asked = ""] = groups(/position 1 first: (.+)\.\n[^?]+ directly behind (\w+)\?/, prompt);
  const floats = listed.split(", ");
  const clues = allGroups(/^- (.+)$/gm, prompt).map(([text = ""]) => {
    const [pattern, holds] = only(CLUES.filter(([form]) => form.test(text)));
    const named = groups(pattern, text);
    return (order: Order) => holds(order, named);
  });
  const rows = orders.map((order) => order.map((float) => floats[float] ?? ""));
  const row = only(clues.reduce((left, holds) => left.filter(holds), rows));
  const behind = row[row.indexOf(asked) + 1];
  const [letter = ""] = only(allGroups(/^([A-E])\) (.+)$/gm, prompt).filter(([, choice]) => choice === behind));
  return letter;
};

type Kind = readonly string[];

/** A sentence of the map room as a condition on the kinds of things that there are. */
function claim(sentence: string): (room: readonly Kind[]) => boolean {
  const [quantity = "", subject = "", not, one = "", other = one] = groups(
    /^(Every|No|Some) ([\w-]+) \w+ (?:is|are) (not )?([\w-]+?)(?: or ([\w-]+), or both)?\.$/,
    sentence,
  ).map((group) => (group === "" ? undefined : group));
  const holds = (kind: Kind) => (kind.includes(one) || kind.includes(other)) !== (not !== undefined);
  return (room) => {
    const subjects = room.filter((kind) => kind.includes(subject));
    if (quantity === "Some") return subjects.some(holds);
    return quantity === "Every" ? subjects.every(holds) : !subjects.some(holds);
  };
}

const mapRoom: Solver = ({ prompt }) => {
  const statements = allGroups(/^\d\. (.+)$/gm, prompt).map(([text = ""]) => text);
  const traits = [...new Set(statements.flatMap((text) => text.slice(0, -1).split(/,? /)))].filter((word) =>
    statements.some((text) =>
      new RegExp(`^(?:Every|No|Some) ${word} | (?:is|are|or) ${word}[.,]| is ${word} or`).test(text),
    ),
  );
  const rules = statements.filter((text) => !text.startsWith("Some")).map(claim);
  const some = claim(only(statements.filter((text) => text.startsWith("Some"))));
  const kinds = subsets(traits.filter((word) => word !== "both")).filter((kind) => rules.every((rule) => rule([kind])));
  // Every rule is about each thing by itself, so two kinds are enough to make a choice false.
  const rooms = kinds.flatMap((a) => kinds.map((b) => [a, b])).filter(some);
  const choices = allGroups(/^([A-E])\) (.+)$/gm, prompt);
  const [letter = ""] = only(choices.filter(([, text = ""]) => rooms.every(claim(text))));
  return letter;
};

const bakeryTrays: Solver = (asked) => {
  const [quantity, label, cloth] = groups(
    /House rule: (every|no|only) trays? that (?:is|are) labelled “(.+)” lies? on a (\w+) cloth\./,
    asked.prompt,
  );
  const { trays } = inputOf<{ trays: { id: string; label?: string; cloth?: string }[] }>(asked);
  const breaks = (labelled: boolean, laid: boolean) => {
    if (quantity === "only") return laid && !labelled;
    return labelled && laid === (quantity === "no");
  };
  const either = [true, false];
  return trays
    .filter((tray) => {
      const labelled = tray.label === undefined ? either : [tray.label === label];
      const laid = tray.cloth === undefined ? either : [tray.cloth === cloth];
      return labelled.some((one) => laid.some((other) => breaks(one, other)));
    })
    .map(({ id }) => id);
};

/** Solvers of the templates of `reasoning`. */
export const reasoningSolvers: Record<string, Solver> = {
  "reasoning-lighthouse-five": lighthouseFive,
  "reasoning-parade-floats": paradeFloats,
  "reasoning-map-room": mapRoom,
  "reasoning-bakery-trays": bakeryTrays,
};
