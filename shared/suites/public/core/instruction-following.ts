import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `instruction_following`: two texts under rules, a document under a schema, ordered edits. */
export const instructionFollowing: SeedTask[] = [
  {
    slug: "core-instructions-library-notice",
    title: "A notice under seven rules",
    domain: "instruction_following",
    prompt:
      "Write a notice to the readers of a small library: the reading room stays closed on Thursday because the boiler is being replaced; returns go into the box at the side door. Rules:\n1. Exactly two paragraphs, parted by one blank line.\n2. 40 to 60 words in all.\n3. The text begins with “Dear readers” and ends with “The library team” (no full stop after it).\n4. It contains the words Thursday, boiler and returns.\n5. It contains no comma.\n6. It does not contain the words sorry, unfortunately or inconvenience.\n7. No headings and no text around the notice.",
    output_format: "text",
    grader: {
      type: "constraints",
      rules: [
        { kind: "exact_paragraphs", n: 2 },
        { kind: "min_words", n: 40 },
        { kind: "max_words", n: 60 },
        { kind: "starts_with", text: "Dear readers" },
        { kind: "ends_with", text: "The library team" },
        { kind: "include", words: ["Thursday", "boiler", "returns"] },
        { kind: "no_commas" },
        { kind: "exclude", words: ["sorry", "unfortunately", "inconvenience"] },
      ],
    },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 4_000,
    wrong_answers: [
      "Dear readers,\n\nthe reading room stays closed on Thursday because the boiler is being replaced. We are sorry for the inconvenience. Please put your returns into the box at the side door, which is open all day and emptied each evening by our staff.\n\nThe library team",
      "Dear readers the reading room stays closed on Thursday because the boiler is being replaced.\n\nReturns go into the box at the side door.\n\nThe library team",
      "Dear readers the reading room is closed on Thursday.\n\nThe boiler is being replaced and returns go into the box. The library team",
    ],
  },
  {
    slug: "core-instructions-tent-list",
    title: "A short list with a twist",
    domain: "instruction_following",
    prompt:
      "Write advice for drying a wet tent as a list. Rules:\n1. Exactly five bullets, each on its own line beginning with “- ”; nothing else before, between or after them.\n2. The whole text is in lower case.\n3. At most 45 words in all.\n4. The words shade, zip and poles occur.\n5. The words tent, dry and water do not occur, and neither does the word and.\n6. The last bullet ends with the words “check again tomorrow”, without a full stop.",
    output_format: "text",
    grader: {
      type: "constraints",
      rules: [
        { kind: "starts_with", text: "-" },
        { kind: "bullets", n: 5 },
        { kind: "exact_paragraphs", n: 1 },
        { kind: "lowercase" },
        { kind: "max_words", n: 45 },
        { kind: "include", words: ["shade", "zip", "poles"] },
        { kind: "exclude", words: ["tent", "dry", "water", "and"] },
        { kind: "ends_with", text: "check again tomorrow" },
      ],
    },
    expected_output: null,
    time_limit_ms: 45_000,
    reference_cost_usd: 0.0015,
    reference_latency_ms: 3_000,
    wrong_answers: [
      "- Shake off the drops\n- Hang it in the shade\n- Open every zip\n- Wipe the poles\n- Wait a night, then check again tomorrow",
      "- shake off the water\n- hang it in the shade\n- open every zip\n- wipe the poles and pegs\n- wait a night then check again tomorrow",
      "- shake off the drops\n- hang it in the shade\n- open every zip, wipe the poles\n- wait a night then check again tomorrow",
      "here is the list:\n- shake off the drops\n- hang it in the shade\n- open every zip\n- wipe the poles\n- wait a night then check again tomorrow",
    ],
  },
  {
    slug: "core-instructions-observatory-plan",
    title: "A night's plan under a schema",
    domain: "instruction_following",
    prompt:
      "Draw up a plan for one night at a small observatory as JSON that is valid against the task's `output_schema`: a site with a name and an altitude, and three to five observations with a target, a start hour, a duration in minutes, a filter and a priority. Invent the names. The schema decides about everything else. Answer with the JSON alone.",
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        site: {
          type: "object",
          properties: {
            name: { type: "string", minLength: 3, maxLength: 30 },
            altitude_m: { type: "integer", minimum: 800, maximum: 4200 },
          },
          required: ["name", "altitude_m"],
          additionalProperties: false,
        },
        observations: {
          type: "array",
          minItems: 3,
          maxItems: 5,
          uniqueItems: true,
          items: {
            type: "object",
            properties: {
              target: { type: "string", minLength: 2 },
              start_hour: {
                type: "integer",
                anyOf: [
                  { minimum: 20, maximum: 23 },
                  { minimum: 0, maximum: 5 },
                ],
              },
              duration_min: { type: "integer", multipleOf: 15, minimum: 30, maximum: 180 },
              filter: { enum: ["red", "blue", "clear", null] },
              priority: { enum: [1, 2, 3] },
              comment: { type: "string" },
            },
            required: ["target", "start_hour", "duration_min", "filter", "priority"],
            additionalProperties: false,
            oneOf: [
              { properties: { priority: { const: 1 } }, required: ["comment"] },
              { properties: { priority: { enum: [2, 3] } }, not: { required: ["comment"] } },
            ],
          },
          contains: { properties: { priority: { const: 1 } } },
          minContains: 1,
          maxContains: 1,
        },
      },
      required: ["site", "observations"],
      additionalProperties: false,
    },
    grader: { type: "json_schema" },
    expected_output: null,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      { site: { name: "Brae Head", altitude_m: 1200 }, observations: [] },
      {
        site: { name: "Brae Head", altitude_m: 1200 },
        observations: [
          { target: "Lyra A", start_hour: 21, duration_min: 60, filter: "red", priority: 1 },
          { target: "Orin 4", start_hour: 23, duration_min: 45, filter: null, priority: 2 },
          { target: "Vesk", start_hour: 2, duration_min: 90, filter: "clear", priority: 3 },
        ],
      },
      {
        site: { name: "Brae Head", altitude_m: 1200 },
        observations: [
          { target: "Lyra A", start_hour: 21, duration_min: 60, filter: "red", priority: 1, comment: "first" },
          { target: "Orin 4", start_hour: 23, duration_min: 45, filter: null, priority: 2, comment: "low" },
          { target: "Vesk", start_hour: 24, duration_min: 90, filter: "clear", priority: 3 },
        ],
      },
      "Site: Brae Head, 1200 m. We observe Lyra A at 21:00, Orin 4 at 23:00 and Vesk at 02:00.",
    ],
  },
  {
    slug: "core-instructions-word-edits",
    title: "Eight edits in order",
    domain: "instruction_following",
    prompt:
      "Begin with the list of words in `input` and carry out the steps in their order, each on the result of the one before. Positions count from 1. Answer with the words of the final list, parted by single spaces, and nothing else.",
    input: {
      words: ["lantern", "otter", "quarry", "maple", "sleet", "harbor", "tin", "velvet"],
      steps: [
        "Swap the first and the last word.",
        "Delete every word of exactly five letters.",
        "Put the word “reed” behind the third word.",
        "Reverse the order of the whole list.",
        "Write the word at position 2 in capitals.",
        "If the list now has an odd number of words, delete the middle one; otherwise delete the first one.",
        "Move the last word to the front.",
        "Reverse the letters of the word at position 3.",
      ],
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "velvet TIN deer harbor quarry",
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 4_000,
    wrong_answers: [
      "velvet TIN robrah reed quarry",
      "velvet lantern NIT reed harbor quarry",
      "velvet lantern NIT harbor quarry",
      "velvet TIN reed harbor quarry",
    ],
  },
];
