import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `math`: unit conversion, rounding policy, working-day calendar, counting. */
export const math: SeedTask[] = [
  {
    slug: "core-math-ferry-reserve",
    title: "Fuel left after the last round trip",
    domain: "math",
    prompt:
      "A ferry sails the route in `input` out and back: every leg once in each direction makes one round trip. Legs are given in kilometres (km) or in nautical miles (nmi; 1 nmi = 1.852 km). The engine burns `litres_per_km`; on top of that, each single leg costs `litres_per_departure` and `litres_per_arrival`. The voyage begins with a full tank, and `reserve_percent` of the tank must never be used. The ferry makes as many complete round trips as that allows. How many litres above the reserve are left afterwards? Answer with one number, rounded to one decimal place.",
    input: {
      legs: [
        { from: "Ormsund", to: "Low Skerry", distance: 14, unit: "nmi" },
        { from: "Low Skerry", to: "Velle", distance: 22.5, unit: "km" },
        { from: "Velle", to: "Harrow Point", distance: 9.5, unit: "nmi" },
      ],
      litres_per_km: 11.5,
      litres_per_departure: 40,
      litres_per_arrival: 25,
      tank_litres: 12_000,
      reserve_percent: 15,
    },
    output_format: "text",
    grader: { type: "numeric", tolerance: 0.05 },
    expected_output: 657.5,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 6_000,
    wrong_answers: ["64", "549.0", "2457.5 litres"],
  },
  {
    slug: "core-math-invoice-rounding",
    title: "An invoice under a rounding policy",
    domain: "math",
    prompt:
      'Compute the invoice in `input`. Policy: (1) each line is quantity × unit price less the line\'s discount, rounded to whole cents, a tie going to the even cent; (2) `net` is the sum of the rounded lines; (3) tax is computed once per tax rate, on the sum of that rate\'s rounded lines, and rounded to whole cents, a tie going up; (4) `tax` is the sum over the rates, and `gross` is `net` plus `tax`. Answer with JSON: {"net": number, "tax": number, "gross": number}.',
    input: {
      currency: "EUR",
      lines: [
        { item: "hinge pin", quantity: 3, unit_price: "4.15", discount_percent: "10", tax_percent: 20 },
        { item: "felt pad", quantity: 7, unit_price: "2.35", discount_percent: "10", tax_percent: 20 },
        { item: "seed tray", quantity: 5, unit_price: "1.27", discount_percent: "10", tax_percent: 5 },
        { item: "seed mix", quantity: 2, unit_price: "4.99", discount_percent: "0", tax_percent: 5 },
        { item: "work lamp", quantity: 1, unit_price: "38.90", discount_percent: "12.5", tax_percent: 20 },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: { net: { type: "number" }, tax: { type: "number" }, gross: { type: "number" } },
      required: ["net", "tax", "gross"],
    },
    grader: { type: "json_fields" },
    expected_output: { net: 75.74, tax: 12.8, gross: 88.54 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 7_000,
    wrong_answers: [
      { net: 75.76, tax: 12.8, gross: 88.56 },
      { net: 75.74, tax: 12.79, gross: 88.53 },
      { net: 75.74, tax: 12.79, gross: 88.54 },
    ],
  },
  {
    slug: "core-math-archive-scan-date",
    title: "The day a page is scanned",
    domain: "math",
    prompt:
      "An archive scans a bound register page by page, beginning with page 1 on its first working day, Wednesday 14 May 2031. Working days are Monday to Friday, except Thursday 22 May and Monday 9 June 2031, when the archive is closed. It scans 45 pages on every working day, apart from each Friday, when the scanner is serviced in the afternoon and only 30 pages are done. On which date is page 950 scanned? Answer with the date alone, as YYYY-MM-DD.",
    input: {
      first_day: "2031-05-14",
      first_page: 1,
      pages_per_day: 45,
      pages_on_friday: 30,
      closed: ["2031-05-22", "2031-06-09"],
      page: 950,
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "2031-06-17",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 7_000,
    wrong_answers: ["2031-06-13", "2031-06-16", "2031-06-18"],
  },
  {
    slug: "core-math-slab-rows",
    title: "Laying a row of slabs",
    domain: "math",
    prompt:
      "A garden path is one slab wide and 11 units long. It is laid, from the gate to the door, with slabs that are 1, 2 or 4 units long (any number of each). Two slabs of length 4 must never lie directly next to each other. Rows that have the same slabs in another order count as different. In how many ways can the path be filled exactly? Answer with one whole number.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 286,
    time_limit_ms: 90_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 10_000,
    wrong_answers: ["296", "144", "164"],
  },
];
