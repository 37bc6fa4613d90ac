import type { SeedTask } from "../types.ts";

/** Texts and data under rules of form that a program can check. */
export const instructions: SeedTask[] = [
  {
    slug: "three-paragraph-toolshed-rules",
    title: "House rules for a shared toolshed",
    domain: "instruction_following",
    prompt:
      'Write house rules for a toolshed that six neighbours share. Exactly three paragraphs, parted by blank lines; between 60 and 90 words in all; no commas at all; the words "rust", "key" and "Sunday" must occur; the words "please" and "must" must not. Begin with "This shed" and end with "back on its hook." Answer with the text alone.',
    output_format: "text",
    grader: {
      type: "constraints",
      rules: [
        { kind: "exact_paragraphs", n: 3 },
        { kind: "min_words", n: 60 },
        { kind: "max_words", n: 90 },
        { kind: "no_commas" },
        { kind: "include", words: ["rust", "key", "Sunday"] },
        { kind: "exclude", words: ["please", "must"] },
        { kind: "starts_with", text: "This shed" },
        { kind: "ends_with", text: "back on its hook." },
      ],
    },
    expected_output: null,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 4_000,
    wrong_answers: [
      "This shed belongs to all six of us, so please keep it tidy.\n\nBring the key back by Sunday and look out for rust.\n\nEvery tool must go back on its hook.",
      "This shed belongs to six households. A key hangs at number four. Whoever borrows a tool wipes it dry so that no rust can set in. On Sunday we sweep the floor together. Every tool goes back on its hook.",
    ],
  },
  {
    slug: "lower-case-packing-list",
    title: "A packing list without capitals",
    domain: "instruction_following",
    prompt:
      'Write a packing list for one night in a mountain hut: exactly five bullets, each on a line of its own that starts with "- ", and nothing before or after them. Everything in lower case, at most 200 characters in all, no commas. The words "rope" and "lantern" must occur, the word "tent" must not.',
    output_format: "text",
    grader: {
      type: "constraints",
      rules: [
        { kind: "bullets", n: 5 },
        { kind: "starts_with", text: "-" },
        { kind: "lowercase" },
        { kind: "max_chars", n: 200 },
        { kind: "no_commas" },
        { kind: "include", words: ["rope", "lantern"] },
        { kind: "exclude", words: ["tent"] },
      ],
    },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.001,
    reference_latency_ms: 2_000,
    wrong_answers: [
      "Here is your list:\n- rope\n- lantern\n- wool blanket\n- bread and cheese\n- water bottle",
      "- rope\n- lantern\n- sleeping bag\n- bread, cheese\n- water bottle",
      "- rope\n- lantern\n- blanket\n- water",
    ],
  },
  {
    slug: "sign-in-exactly-twelve-words",
    title: "A sign of exactly so many words",
    domain: "instruction_following",
    prompt:
      'Write the text of a sign for a footbridge that is shut in winter: exactly 12 words, in capital letters throughout, at least two sentences, with the words ICE and DETOUR and without the word BRIDGE. It ends with "UNTIL APRIL." A word is a run of letters or digits, hyphens and apostrophes inside it included. Answer with the text of the sign alone.',
    output_format: "text",
    grader: {
      type: "constraints",
      rules: [
        { kind: "exact_words", n: 12 },
        { kind: "uppercase" },
        { kind: "min_sentences", n: 2 },
        { kind: "include", words: ["ICE", "DETOUR"] },
        { kind: "exclude", words: ["BRIDGE"] },
        { kind: "ends_with", text: "UNTIL APRIL." },
      ],
    },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 3_000,
    wrong_answers: [
      "DANGER OF ICE. THIS BRIDGE IS SHUT. TAKE THE DETOUR UNTIL APRIL.",
      "ICE ON THE PLANKS. TAKE THE DETOUR BY THE OLD MILL UNTIL APRIL.",
    ],
  },
  {
    slug: "kitchen-rota-by-schema",
    title: "A rota that fits its schema",
    domain: "instruction_following",
    prompt:
      "Write a kitchen rota: any JSON document that is valid against the output schema (JSON Schema 2020-12). Answer with the JSON alone.",
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        week: { type: "integer", multipleOf: 4, exclusiveMinimum: 24, maximum: 31 },
        meals: {
          type: "array",
          minItems: 4,
          maxItems: 4,
          items: {
            type: "object",
            properties: {
              day: { enum: ["mon", "wed", "fri", "sun"] },
              dish: { type: "string", minLength: 5, maxLength: 8 },
              spicy: { type: "boolean" },
              sauce: { type: "string" },
              cooks: { type: "array", items: { enum: ["Ilva", "Tor", "Bee"] }, minItems: 2, uniqueItems: true },
            },
            required: ["day", "dish", "cooks"],
            additionalProperties: false,
            dependentRequired: { sauce: ["spicy"] },
            if: { properties: { day: { const: "fri" } } },
            then: { not: { required: ["spicy"] } },
            else: { required: ["spicy"] },
          },
          allOf: [
            { contains: { properties: { day: { const: "fri" } } }, minContains: 1, maxContains: 1 },
            {
              contains: { properties: { spicy: { const: true } }, required: ["spicy", "sauce"] },
              minContains: 2,
              maxContains: 2,
            },
            { contains: { properties: { cooks: { contains: { const: "Tor" } } } }, minContains: 0, maxContains: 1 },
          ],
        },
      },
      required: ["week", "meals"],
      additionalProperties: false,
    },
    grader: { type: "json_schema" },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 4_000,
    wrong_answers: [
      {
        week: 24,
        meals: [
          { day: "mon", dish: "lentils", spicy: true, sauce: "mint", cooks: ["Ilva", "Bee"] },
          { day: "wed", dish: "noodles", spicy: true, sauce: "soy", cooks: ["Ilva", "Bee"] },
          { day: "fri", dish: "omelette", cooks: ["Ilva", "Tor"] },
          { day: "sun", dish: "risotto", spicy: false, cooks: ["Ilva", "Bee"] },
        ],
      },
      {
        week: 28,
        meals: [
          { day: "mon", dish: "lentils", spicy: true, sauce: "mint", cooks: ["Ilva", "Tor"] },
          { day: "wed", dish: "noodles", spicy: true, sauce: "soy", cooks: ["Tor", "Bee"] },
          { day: "fri", dish: "omelette", spicy: false, cooks: ["Ilva", "Bee"] },
          { day: "sun", dish: "risotto", spicy: false, cooks: ["Ilva", "Bee"] },
        ],
      },
    ],
  },
  {
    slug: "shelf-marks-in-one-line",
    title: "Shelf marks put into a fixed form",
    domain: "instruction_following",
    prompt:
      "Put the shelf marks in the input into the library's form and write all of them in one line. The form is: the room as two digits, a hyphen, the shelf as one capital letter, a hyphen, the place as three digits. Sort by place, the smallest first; part the marks by a space, a bar and a space ( | ); close the line with a full stop directly after the last mark. Answer with this line alone.",
    input: {
      marks: [
        "room 7, shelf c, place 41",
        "F / 12 / 9 (shelf, room, place)",
        "place 118; shelf A; room 3",
        "room 10 shelf b place 40",
      ],
    },
    output_format: "text",
    grader: {
      type: "regex",
      pattern: "^\\s*12-F-009 \\| 10-B-040 \\| 07-C-041 \\| 03-A-118\\.\\s*$",
    },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.001,
    reference_latency_ms: 2_000,
    wrong_answers: [
      "03-A-118 | 07-C-041 | 10-B-040 | 12-F-009.",
      "12-F-009 | 10-B-040 | 07-C-041 | 03-A-118",
      "Here you are: 12-F-009 | 10-B-040 | 07-C-041 | 03-A-118.",
    ],
  },
];
