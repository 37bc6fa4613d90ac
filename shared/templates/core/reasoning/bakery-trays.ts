import { defineTemplate } from "../../types.ts";
import { PLACES } from "../../words.ts";

/** What bread can be free of. */
const FREE_OF = ["nut", "gluten", "egg", "milk", "sesame", "soy", "yeast"] as const;
const LABELS = [
  "almond",
  "rye",
  "oat",
  "cinnamon",
  "poppy seed",
  "raisin",
  "cheese",
  "spelt",
  "onion",
  "honey",
] as const;
const CLOTHS = ["blue", "white", "green", "red", "yellow", "grey", "purple", "brown"] as const;

/** Trap: what is looked for is what can break the rule, not what can bear it out. */
export const bakeryTrays = defineTemplate(
  { id: "reasoning-bakery-trays", version: 1, sample: "core-reasoning-bakery-trays" },
  (random) => {
    const free = random.pick(FREE_OF);
    const label = `${free}-free`;
    const [cloth, ...others] = random.sample(CLOTHS, 3);
    const [place, letter] = [random.pick(PLACES), random.pick(["B", "K", "R", "T", "V", "W"])];
    const numbers = random
      .sample(
        Array.from({ length: 40 }, (_, i) => i + 1),
        8,
      )
      .toSorted((a, b) => a - b);
    const sides = random.shuffle([
      { label, named: "label" },
      { label, named: "label" },
      { label: random.pick(LABELS), named: "other label" },
      { label: `plain, may contain ${free === "nut" ? "nuts" : free}`, named: "other label" },
      { cloth, named: "cloth" },
      { cloth, named: "cloth" },
      ...others.map((other) => ({ cloth: other, named: "other cloth" })),
    ]);
    const trays = sides.map(({ named, ...side }, i) => ({ named, tray: { id: `${letter}${numbers[i]}`, ...side } }));
    const idsOf = (...wanted: string[]) =>
      trays.filter(({ named }) => wanted.includes(named)).map(({ tray }) => tray.id);
    const { rule, lift } = random.pick([
      { rule: `every tray that is labelled “${label}” lies on a ${cloth} cloth`, lift: ["label", "other cloth"] },
      { rule: `no tray that is labelled “${label}” lies on a ${cloth} cloth`, lift: ["label", "cloth"] },
      { rule: `only trays that are labelled “${label}” lie on a ${cloth} cloth`, lift: ["other label", "cloth"] },
    ]);
    const choices = [
      ["label", "cloth"],
      ["label", "other cloth"],
      ["other label", "cloth"],
      ["label"],
      ["cloth"],
      ["label", "cloth", "other cloth"],
      ["label", "other label", "cloth", "other cloth"],
    ];
    return {
      prompt: `In the bakery of ${place} each tray carries a label on top and lies on a coloured cloth. House rule: ${rule}. Of each tray in \`input\` you can see only one of the two things; to see the other you must lift it. You want to know whether these trays obey the rule, lifting as few as possible. Labels and cloths may occur in any combination. Give the ids of exactly those trays that must be lifted, as a JSON array of strings.`,
      input: { trays: trays.map(({ tray }) => tray) },
      output_format: "json",
      output_schema: { type: "array", items: { type: "string" } },
      grader: { type: "set_f1" },
      expected_output: idsOf(...lift),
      wrong_answers: choices.filter((wanted) => wanted.join() !== lift.join()).map((wanted) => idsOf(...wanted)),
    };
  },
);
