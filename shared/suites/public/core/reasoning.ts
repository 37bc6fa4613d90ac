import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `reasoning`: truth-tellers, an ordering, an inference, a test of a rule. */
export const reasoning: SeedTask[] = [
  {
    slug: "core-reasoning-lighthouse-five",
    title: "Who of the five tells the truth",
    domain: "reasoning",
    prompt:
      "Five lighthouse keepers each either always tell the truth or always lie. A sentence “if X then Y” is false only when X is true and Y is false.\n\nBrisa: “At least three of the five of us tell the truth.”\nCorin: “Brisa and Emeka are of the same kind.”\nDell: “If Corin tells the truth, then so does Fio.”\nEmeka: “Exactly one of Dell and Fio tells the truth.”\nFio: “Brisa and Emeka both lie.”\n\nDecide for each what they are. Answer with five letters and nothing else, in the order Brisa, Corin, Dell, Emeka, Fio: T for a truth-teller, L for a liar.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "LLTTL",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 8_000,
    wrong_answers: ["LLLTT", "TTTLL", "LTTTL"],
  },
  {
    slug: "core-reasoning-parade-floats",
    title: "The order of a parade",
    domain: "reasoning",
    prompt:
      "Seven floats drive in single file, position 1 first: Anvil, Bell, Comet, Drum, Ember, Fern, Globe.\n\n- Bell drives exactly three positions behind Drum.\n- Comet and Fern are next to each other.\n- Ember is somewhere between Anvil and Globe, with Anvil ahead of it and Globe behind it.\n- Comet is somewhere behind Bell.\n- Neither Globe nor Fern is last.\n- Anvil is not first.\n\nWhich float drives directly behind Bell?\nA) Comet\nB) Ember\nC) Fern\nD) Globe\nE) Anvil\n\nAnswer with the letter alone.",
    input: {
      floats: ["Anvil", "Bell", "Comet", "Drum", "Ember", "Fern", "Globe"],
      choices: ["Comet", "Ember", "Fern", "Globe", "Anvil"],
    },
    output_format: "text",
    grader: { type: "multiple_choice", choices: ["Comet", "Ember", "Fern", "Globe", "Anvil"] },
    expected_output: "Globe",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 8_000,
    wrong_answers: ["A", "C", "Fern", "B"],
  },
  {
    slug: "core-reasoning-map-room",
    title: "What follows about the maps",
    domain: "reasoning",
    prompt:
      "Four statements hold for the maps of one map room:\n\n1. Every sealed map is dated.\n2. No anonymous map is dated.\n3. Every folded map is sealed or water-damaged, or both.\n4. Some folded maps are anonymous.\n\nWhich of these must then be true?\nA) No folded map is sealed.\nB) Every anonymous map is folded.\nC) Some folded maps are dated.\nD) Some water-damaged maps are not sealed.\nE) Every water-damaged map is anonymous.\n\nAnswer with the letter alone.",
    output_format: "text",
    grader: {
      type: "multiple_choice",
      choices: [
        "No folded map is sealed.",
        "Every anonymous map is folded.",
        "Some folded maps are dated.",
        "Some water-damaged maps are not sealed.",
        "Every water-damaged map is anonymous.",
      ],
    },
    expected_output: "Some water-damaged maps are not sealed.",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 5_000,
    wrong_answers: ["A", "(C)", "Answer: E"],
  },
  {
    slug: "core-reasoning-bakery-trays",
    title: "Which trays must be checked",
    domain: "reasoning",
    prompt:
      "In a bakery each tray carries a label on top and lies on a coloured cloth. House rule: every tray that is labelled “nut-free” lies on a blue cloth. Of each tray in `input` you can see only one of the two things; to see the other you must lift it. You want to know whether these trays obey the rule, lifting as few as possible. Labels and cloths may occur in any combination. Give the ids of exactly those trays that must be lifted, as a JSON array of strings.",
    input: {
      trays: [
        { id: "T1", label: "nut-free" },
        { id: "T2", cloth: "blue" },
        { id: "T3", cloth: "white" },
        { id: "T4", label: "almond" },
        { id: "T5", label: "nut-free" },
        { id: "T6", cloth: "green" },
        { id: "T7", cloth: "blue" },
        { id: "T8", label: "plain, may contain nuts" },
      ],
    },
    output_format: "json",
    output_schema: { type: "array", items: { type: "string" } },
    grader: { type: "set_f1" },
    expected_output: ["T1", "T3", "T5", "T6"],
    time_limit_ms: 45_000,
    reference_cost_usd: 0.0015,
    reference_latency_ms: 4_000,
    wrong_answers: [
      ["T1", "T2", "T5", "T7"],
      ["T1", "T5"],
      ["T1", "T2", "T3", "T5", "T6", "T7"],
    ],
  },
];
