import type { SeedTask } from "../types.ts";

/** Sums of money in which the order of rounding, discounting and charging decides the result. */
export const money: SeedTask[] = [
  {
    slug: "studio-rent-steps",
    title: "Rent of a studio over forty months",
    domain: "math",
    prompt:
      "A pottery studio is let for 1,840 dollars a month. After every full 12 months the rent rises by 3.5 percent of the rent then in force, and the new rent is rounded to the nearest 5 dollars (exactly halfway goes up) before it is charged. How many dollars of rent are paid in the first 40 months together? Answer with the number alone.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 76740,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [76745.61, 76720, 73600],
  },
  {
    slug: "line-tax-rounding",
    title: "Total of a bill with discount and tax on each line",
    domain: "math",
    prompt:
      "The input lists the lines of a bill. For each line: multiply quantity by unit price; take off the line's discount in percent and round what is left to whole cents; compute the line's tax in percent of that rounded amount and round the tax to whole cents. Half a cent always rounds up. The total is the sum of all rounded amounts and all rounded taxes. Answer with the total in dollars with two decimals, nothing else.",
    input: {
      lines: [
        { item: "linen tape", quantity: 7, unit_price_usd: "1.35", discount_percent: 10, tax_percent: 7 },
        { item: "brass hook", quantity: 13, unit_price_usd: "0.85", discount_percent: 0, tax_percent: 7 },
        { item: "wax cord", quantity: 3, unit_price_usd: "4.15", discount_percent: 15, tax_percent: 7 },
        { item: "pattern book", quantity: 1, unit_price_usd: "23.90", discount_percent: 5, tax_percent: 3 },
        { item: "bobbin", quantity: 45, unit_price_usd: "0.29", discount_percent: 20, tax_percent: 7 },
      ],
    },
    output_format: "text",
    grader: { type: "numeric", tolerance: 0.001 },
    expected_output: "66.81",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: ["66.80", "66.82", "63.28"],
  },
  {
    slug: "credit-line-five-months",
    title: "Balance of a credit line after five months",
    domain: "math",
    prompt:
      "A credit line owes 1,200.00 dollars at the end of December. In each of the five months January to May these things happen in this order: (1) interest of 1.5 percent of the balance is added, rounded to whole cents, half a cent up; (2) a payment of 130.00 dollars is booked; (3) if the balance after the payment is above 900.00 dollars, a fee of 12.00 dollars is added. What is the balance in dollars after May? Answer with two decimals, nothing else.",
    output_format: "text",
    grader: { type: "numeric", tolerance: 0.001 },
    expected_output: "648.23",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: ["672.77", "638.18", "622.94"],
  },
  {
    slug: "lamp-inspection-budget",
    title: "Expected cost of an inspection",
    domain: "math",
    prompt:
      "A crate holds 12 lamps, of which 3 are faulty; nobody knows which. An inspector takes lamps at random, one after another and without putting any back, and tests each one taken. The inspection stops as soon as a faulty lamp has been found, or after the fourth test, whichever comes first. One test costs 6.60 dollars, the test that finds the faulty lamp included. What is the expected cost of one inspection in dollars? Answer with the number alone, rounded to the cent.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 17.67,
    time_limit_ms: 90_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 9_000,
    wrong_answers: [18.05, 26.4, 21.45],
  },
  {
    slug: "lowest-final-mark",
    title: "The mark still needed for a distinction",
    domain: "math",
    prompt:
      "A course grade is made of quizzes (20 percent), a project (30 percent) and a final exam (50 percent). For the quizzes the single lowest mark is dropped and the others are averaged. The course grade is rounded to a whole number, .5 going up, and a distinction needs a rounded grade of at least 85. Mirela's quizzes: 78, 92, 64, 88. Her project: 81. Exam marks are whole numbers from 0 to 100. What is the lowest exam mark with which she gets the distinction? Answer with the number alone.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 86,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 5_000,
    wrong_answers: [87, 89, 85],
  },
];
