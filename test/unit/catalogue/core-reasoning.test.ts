import { describe, expect, test } from "vitest";
import { coreTask, inputOf, keyOf, permutations, subsets } from "./core-support.ts";

describe("core-reasoning-lighthouse-five", () => {
  test("exactly one assignment of truth and lie fits all five statements", () => {
    const keepers = ["Brisa", "Corin", "Dell", "Emeka", "Fio"] as const;
    const solutions = subsets(keepers).filter((honest) => {
      const tells = (name: (typeof keepers)[number]) => honest.includes(name);
      const statements = {
        Brisa: honest.length >= 3,
        Corin: tells("Brisa") === tells("Emeka"),
        Dell: !tells("Corin") || tells("Fio"),
        Emeka: tells("Dell") !== tells("Fio"),
        Fio: !tells("Brisa") && !tells("Emeka"),
      };
      return keepers.every((name) => statements[name] === tells(name));
    });
    const letters = solutions.map((honest) => keepers.map((name) => (honest.includes(name) ? "T" : "L")).join(""));
    expect(letters).toEqual([keyOf("core-reasoning-lighthouse-five")]);
  });
});

describe("core-reasoning-parade-floats", () => {
  const { floats } = inputOf<{ floats: string[] }>("core-reasoning-parade-floats");
  type Place = (float: string) => number;
  const clues: ((at: Place) => boolean)[] = [
    (at) => at("Bell") === at("Drum") + 3,
    (at) => Math.abs(at("Comet") - at("Fern")) === 1,
    (at) => at("Anvil") < at("Ember") && at("Ember") < at("Globe"),
    (at) => at("Comet") > at("Bell"),
    (at) => at("Globe") !== 7 && at("Fern") !== 7,
    (at) => at("Anvil") !== 1,
  ];
  const orders = permutations(floats);
  const fitting = (rules: typeof clues) =>
    orders.filter((order) => rules.every((rule) => rule((float) => order.indexOf(float) + 1)));

  test("one order fits, and the key drives behind Bell in it", () => {
    const solutions = fitting(clues);
    expect(solutions.map((order) => order[order.indexOf("Bell") + 1])).toEqual([keyOf("core-reasoning-parade-floats")]);
  });

  test("no clue can be left out", () => {
    for (const clue of clues) expect(fitting(clues.filter((other) => other !== clue)).length).toBeGreaterThan(1);
  });
});

describe("core-reasoning-map-room", () => {
  test("of the choices only the key holds in every map room that fits the statements", () => {
    const traits = ["sealed", "dated", "anonymous", "folded", "damaged"] as const;
    type Kind = (typeof traits)[number][];
    const is = (trait: (typeof traits)[number]) => (kind: Kind) => kind.includes(trait);
    const both = (one: (kind: Kind) => boolean, other: (kind: Kind) => boolean) => (kind: Kind) =>
      one(kind) && other(kind);
    const [sealed, dated, anonymous, folded, damaged] = [
      is("sealed"),
      is("dated"),
      is("anonymous"),
      is("folded"),
      is("damaged"),
    ];
    const kinds = subsets(traits).filter(
      (kind) =>
        (!sealed(kind) || dated(kind)) &&
        !(anonymous(kind) && dated(kind)) &&
        (!folded(kind) || sealed(kind) || damaged(kind)),
    );
    // Two kinds of map suffice: one to make statement 4 true, one to make a choice false.
    const rooms = kinds
      .flatMap((one) => kinds.map((other) => [one, other]))
      .filter((room) => room.some(both(folded, anonymous)));
    const choices: Record<string, (room: Kind[]) => boolean> = {
      "No folded map is sealed.": (room) => !room.some(both(folded, sealed)),
      "Every anonymous map is folded.": (room) => room.filter(anonymous).every(folded),
      "Some folded maps are dated.": (room) => room.some(both(folded, dated)),
      "Some water-damaged maps are not sealed.": (room) => room.filter(damaged).some((kind) => !sealed(kind)),
      "Every water-damaged map is anonymous.": (room) => room.filter(damaged).every(anonymous),
    };
    const { grader } = coreTask("core-reasoning-map-room");
    expect(grader).toMatchObject({ choices: Object.keys(choices) });
    expect(Object.keys(choices).filter((choice) => rooms.every((room) => choices[choice]?.(room)))).toEqual([
      keyOf("core-reasoning-map-room"),
    ]);
  });
});

describe("core-reasoning-bakery-trays", () => {
  test("the key names the trays whose hidden side can break the rule", () => {
    type Tray = { id: string; label?: string; cloth?: string };
    const { trays } = inputOf<{ trays: Tray[] }>("core-reasoning-bakery-trays");
    const labels = [...new Set(trays.flatMap(({ label = [] }) => label))];
    const cloths = [...new Set(trays.flatMap(({ cloth = [] }) => cloth))];
    const breaks = (label: string, cloth: string) => label === "nut-free" && cloth !== "blue";
    const mustLift = trays.filter(({ label, cloth }) =>
      (label === undefined ? labels : [label]).some((front) =>
        (cloth === undefined ? cloths : [cloth]).some((under) => breaks(front, under)),
      ),
    );
    expect(mustLift.map(({ id }) => id)).toEqual(keyOf("core-reasoning-bakery-trays"));
  });
});
