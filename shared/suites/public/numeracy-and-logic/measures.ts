import type { SeedTask } from "../types.ts";

/** Quantities with units, clocks and calendars. */
export const measures: SeedTask[] = [
  {
    slug: "paddock-posts-and-wire",
    title: "Posts and wire for a paddock with a gate",
    domain: "math",
    prompt:
      'A rectangular paddock measures 84 m by 60 m. Posts stand all round it every 4 m, one at each corner. In one long side there is a gate 8 m wide; it hangs between two of these posts, 36 m and 44 m from a corner, and the post that would stand inside the opening is left out. Three strands of wire run round the paddock, but not across the gate. Wire is sold only in full rolls of 120 m and pieces may be joined. Answer with a JSON object {"posts": number, "rolls": number}.',
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { posts: 71, rolls: 7 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      { posts: 72, rolls: 7 },
      { posts: 71, rolls: 8 },
      { posts: 70, rolls: 7 },
    ],
  },
  {
    slug: "two-flights-three-clocks",
    title: "Local time of arrival after two flights",
    domain: "math",
    prompt:
      "A courier leaves Orvane at 23:20 local time on Tuesday 3 March 2026. Orvane is at UTC+5:45. The flight to Kestrel Bay (UTC-3:30) takes 6 h 50 min; there the courier waits 4 h 35 min, and the next flight, to Pell, takes 2 h 15 min. Pell is at UTC+1, but at 02:00 UTC on 4 March 2026 it moves to UTC+2 for the summer. What do the clocks in Pell show when the courier lands? Answer in the form YYYY-MM-DD HH:MM, nothing else.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "2026-03-04 09:15",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: ["2026-03-04 08:15", "2026-03-04 13:00", "2026-03-05 09:15"],
  },
  {
    slug: "syrup-after-three-steps",
    title: "Sugar content of a syrup",
    domain: "math",
    prompt:
      "A vat holds 240 litres of syrup that is 65 percent sugar by volume. Step 1: a quarter of the content is drained and replaced by the same volume of water. Step 2: a fifth of the content is drained and replaced by the same volume of a syrup with 30 percent sugar. Step 3: the vat is heated until its volume has gone down by 12 percent; only water is lost. Volumes add up simply. What percentage of the content is sugar at the end? Answer with the number alone, rounded to two decimals.",
    output_format: "text",
    grader: { type: "numeric", tolerance: 0.005 },
    expected_output: 51.14,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [45, 50.4, 39.6],
  },
  {
    slug: "calendar-of-tamris",
    title: "A date in an island's own calendar",
    domain: "math",
    prompt:
      "The island of Tamris divides its year into 13 months of 28 days. After month 13 comes one Year Day, which belongs to no month; in a year whose number is divisible by 4 there are two Year Days. Day 1 of month 1 of year 412 in Tamris fell on 1 March 2023 of the common (Gregorian) calendar, in which 2024 is a leap year. Which date of Tamris is 10 November 2024? Answer in the form YEAR-MONTH-DAY with two digits each for month and day, for example 405-02-17, nothing else.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "413-10-03",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
    wrong_answers: ["413-10-04", "413-10-02", "413-09-03", "412-10-03"],
  },
  {
    slug: "cistern-with-overflow-seep",
    title: "When a cistern is full",
    domain: "math",
    prompt:
      "A cistern holds 18 cubic metres. At 06:10 it contains 600 litres and pump A starts to deliver 45 litres a minute. At 08:00 pump B joins in with 75 litres a minute. Whenever the cistern is more than half full, water seeps out through a crack at 20 litres a minute. At what time is the cistern full? Answer in the form HH:MM:SS, nothing else.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "09:58:45",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 7_000,
    wrong_answers: ["10:03:45", "09:43:45", "10:26:30"],
  },
];
