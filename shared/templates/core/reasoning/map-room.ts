import { zip } from "../../lists.ts";
import { defineTemplate } from "../../types.ts";

const PLACES = [
  ["map", "map room"],
  ["letter", "archive"],
  ["atlas", "library"],
  ["print", "gallery"],
  ["globe", "museum"],
  ["poster", "theatre"],
  ["drawing", "workshop"],
  ["photograph", "newspaper"],
] as const;
const TRAITS = [
  "sealed",
  "dated",
  "anonymous",
  "folded",
  "water-damaged",
  "numbered",
  "framed",
  "varnished",
  "hand-coloured",
  "restored",
  "borrowed",
  "insured",
  "catalogued",
  "torn",
  "faded",
  "foreign",
] as const;

/** Trap: what follows needs all four statements; what seems to follow turns one of them round. */
export const mapRoom = defineTemplate(
  { id: "reasoning-map-room", version: 2, sample: "core-reasoning-map-room" },
  (random) => {
    const [one, room] = random.pick(PLACES);
    const many = one === "atlas" ? "atlases" : `${one}s`;
    // In the sample: sealed, dated, anonymous, folded, water-damaged.
    const [sealed, dated, anonymous, folded, damaged] = random.sample(TRAITS, 5);
    const either = random.shuffle([sealed, damaged]).join(" or ");
    const statements = random.shuffle([
      `Every ${sealed} ${one} is ${dated}.`,
      random.pick([`No ${anonymous} ${one} is ${dated}.`, `No ${dated} ${one} is ${anonymous}.`]),
      `Every ${folded} ${one} is ${either}, or both.`,
      random.pick([`Some ${folded} ${many} are ${anonymous}.`, `Some ${anonymous} ${many} are ${folded}.`]),
    ]);
    // A folded and anonymous one is not dated, so not sealed, so damaged.
    const affirmed = [
      `Some ${damaged} ${many} are ${anonymous}.`,
      `Some ${anonymous} ${many} are ${damaged}.`,
      `Some ${folded} ${many} are ${damaged}.`,
    ];
    const denied = [`Some ${damaged} ${many} are not ${sealed}.`, `Some ${damaged} ${many} are not ${dated}.`];
    const misaffirmed = [
      `Some ${damaged} ${many} are ${sealed}.`,
      `Some ${damaged} ${many} are ${dated}.`,
      `Some ${sealed} ${many} are ${damaged}.`,
      `Some ${dated} ${many} are ${damaged}.`,
      `Some ${folded} ${many} are ${dated}.`,
    ];
    const misdenied = [
      `Some ${damaged} ${many} are not ${anonymous}.`,
      `Some ${damaged} ${many} are not ${folded}.`,
      `Some ${sealed} ${many} are not ${damaged}.`,
      `Some ${dated} ${many} are not ${damaged}.`,
    ];
    // Two choices affirm and two deny something of some: their form alone tells nothing of which one follows.
    const affirms = random.pick([true, false]);
    const key = random.pick(affirms ? affirmed : denied);
    const others = [
      ...random.sample(misaffirmed, affirms ? 1 : 2),
      ...random.sample(misdenied, affirms ? 2 : 1),
      random.pick([
        `No ${folded} ${one} is ${sealed}.`,
        `Every ${anonymous} ${one} is ${folded}.`,
        `Every ${damaged} ${one} is ${anonymous}.`,
        `Every ${anonymous} ${one} is ${damaged}.`,
        `Every ${folded} ${one} is ${damaged}.`,
        `No ${damaged} ${one} is ${dated}.`,
        `Every ${dated} ${one} is ${sealed}.`,
      ]),
    ];
    const choices = random.shuffle([key, ...others]);
    const lettered = zip(["A", "B", "C", "D", "E"], choices);
    return {
      prompt: `Four statements hold for the ${many} of one ${room}:\n\n${statements
        .map((statement, i) => `${i + 1}. ${statement}`)
        .join("\n")}\n\nWhich of these must then be true?\n${lettered
        .map(([letter, choice]) => `${letter}) ${choice}`)
        .join("\n")}\n\nAnswer with the letter alone.`,
      output_format: "text",
      grader: { type: "multiple_choice", choices },
      expected_output: key,
      wrong_answers: lettered.filter(([, choice]) => choice !== key).flat(),
    };
  },
);
