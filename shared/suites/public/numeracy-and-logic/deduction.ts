import type { SeedTask } from "../types.ts";

/** Puzzles with exactly one solution that fits everything that is said. */
export const deduction: SeedTask[] = [
  {
    slug: "eight-sacks-three-weighings",
    title: "Two false sacks on a balance",
    domain: "reasoning",
    prompt:
      'Eight sacks, numbered 1 to 8, should all weigh the same. In truth one of them is a kilogram too heavy and another one is a kilogram too light; the other six are right. Three weighings on a balance gave:\n1, 2, 3 against 4, 5, 6: the left side sinks\n1, 2, 6 against 3, 4, 5: the right side sinks\n1, 2, 4 against 3, 5, 6: the sides balance\nWhich sack is too heavy, and which is too light? Answer with a JSON object {"heavy": number, "light": number}.',
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { heavy: 3, light: 6 },
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 11_000,
    wrong_answers: [
      { heavy: 3, light: 7 },
      { heavy: 3, light: 4 },
      { heavy: 1, light: 6 },
    ],
  },
  {
    slug: "six-seats-round-a-table",
    title: "Seats round a table",
    domain: "reasoning",
    prompt:
      "Six seats round a table are numbered 1 to 6 clockwise, so that seat 6 is next to seat 1 and seat 1 is opposite seat 4. Ines, Jorg, Kaja, Lior, Mona and Nils sit there. Mona has seat 1. Ines sits next to neither Jorg nor Mona. Lior sits immediately clockwise of Kaja. Nils is not opposite Mona and not next to Lior. Jorg is not opposite Kaja. Kaja's seat number is odd. Who has seat 4? Answer with the name alone.",
    output_format: "text",
    grader: { type: "normalized_text" },
    expected_output: "Lior",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 11_000,
    wrong_answers: ["Ines", "Kaja", "Jorg"],
  },
  {
    slug: "stack-of-spice-crates",
    title: "Order of a stack of crates",
    domain: "reasoning",
    prompt:
      "Seven crates stand in one stack; position 1 is the top. They hold Anise, Bay, Clove, Dill, Fennel, Ginger and Mace. Exactly two crates are between Anise and Dill. Ginger is exactly two positions below Bay. Mace is neither at the top nor at the bottom. Dill is at an even position. Bay is not at the top. Anise is somewhere below Fennel. Clove is directly below Dill. Give the order from top to bottom, names joined by hyphens without spaces, nothing else.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "Fennel-Bay-Anise-Ginger-Mace-Dill-Clove",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.008,
    reference_latency_ms: 12_000,
    wrong_answers: ["Clove-Dill-Mace-Ginger-Anise-Bay-Fennel", "Fennel-Dill-Clove-Bay-Anise-Ginger-Mace"],
  },
  {
    slug: "four-digit-vault-code",
    title: "A code from four failed tries",
    domain: "reasoning",
    prompt:
      "A vault code has four different digits (0 to 9; a leading 0 is possible). For each failed try the vault tells how many digits are right and in the right place, and how many occur in the code but in another place:\n1234: none in place, one elsewhere\n5780: none in place, three elsewhere\n8306: two in place, one elsewhere\n3079: none in place, three elsewhere\nWhat is the code? Answer with the four digits alone.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "7308",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 11_000,
    wrong_answers: ["8307", "7380", "0378"],
  },
  {
    slug: "robots-that-lie-by-weekday",
    title: "Which day it is among three robots",
    domain: "reasoning",
    prompt:
      'Three robots lie on certain days of the week and tell the truth on all others. Pip lies on Monday, Wednesday and Friday. Quo lies on Tuesday, Wednesday and Thursday. Rux lies on Monday, Saturday and Sunday; every statement made on a lying day is false. Today they say:\nPip: "I will lie tomorrow."\nQuo: "Exactly one of the other two is lying today."\nRux: "I lied yesterday."\nWhich day of the week is it? Answer with the day\'s English name alone.',
    output_format: "text",
    grader: { type: "normalized_text" },
    expected_output: "Tuesday",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
    wrong_answers: ["Monday", "Thursday", "Friday"],
  },
];
