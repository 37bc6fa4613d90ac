import type { SeedTask } from "../types.ts";

/** Plans in time: sequences of work, calendars, programmes, rosters. */
export const schedules: SeedTask[] = [
  {
    slug: "lathe-then-varnish",
    title: "Five pieces through two stations",
    domain: "planning",
    prompt:
      "A workshop makes the five pieces in the input. Each goes first to the lathe and then to the varnish room, for the hours given. Each station takes one piece at a time, both take the pieces in the same order, and a piece may wait between them. The desk must go to the lathe before the bench. Which order finishes the last piece as early as possible? There is only one such order. Answer with the names in that order, joined by hyphens, nothing else.",
    input: {
      hours: {
        bench: { lathe: 7, varnish: 6 },
        chest: { lathe: 3, varnish: 9 },
        desk: { lathe: 8, varnish: 2 },
        easel: { lathe: 6, varnish: 8 },
        frame: { lathe: 6, varnish: 5 },
      },
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "chest-easel-desk-bench-frame",
    time_limit_ms: 120_000,
    reference_cost_usd: 0.012,
    reference_latency_ms: 15_000,
    wrong_answers: ["chest-easel-bench-frame-desk", "chest-desk-bench-easel-frame", "chest-easel-frame-desk-bench"],
  },
  {
    slug: "boathouse-building-dates",
    title: "The day of the final inspection",
    domain: "planning",
    prompt:
      "Plan a boathouse. Working days are Monday to Friday except 14 and 25 May 2026; 4 May 2026 is a Monday. All steps start as early as they can and are done on consecutive working days. Survey: 2 days, starts on 4 May. Footing: 3 days, after the survey. The footing must then cure for 7 full calendar days, the first being the day after the footing's last day. Walls: 4 days, after the curing. Windows are delivered on 22 May and can be fitted from the next working day on. Roof: 3 days, after the walls. Window fitting: 3 days, after the walls and the delivery; it may run beside the roof. Final inspection: 1 working day, after roof and windows, never on a Friday. On what date is the final inspection? Answer in the form YYYY-MM-DD, nothing else.",
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "2026-06-01",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 9_000,
    wrong_answers: ["2026-05-29", "2026-05-28", "2026-06-02"],
  },
  {
    slug: "one-stage-many-acts",
    title: "The best programme for one stage",
    domain: "planning",
    prompt:
      "One stage, ten acts that have offered fixed times, each worth a number of points to the public; see the input. Between the end of an act and the start of the next, the stage needs at least 15 minutes. Which acts make the programme with the most points? There is only one best choice. Answer with a JSON array of the names.",
    input: {
      acts: [
        { name: "brass", start: "10:00", end: "11:00", points: 7 },
        { name: "choir", start: "10:30", end: "11:45", points: 9 },
        { name: "drums", start: "11:10", end: "12:00", points: 5 },
        { name: "folk", start: "11:55", end: "13:10", points: 10 },
        { name: "jazz", start: "12:10", end: "13:00", points: 6 },
        { name: "lute", start: "13:10", end: "14:00", points: 4 },
        { name: "opera", start: "13:20", end: "14:45", points: 11 },
        { name: "poems", start: "14:00", end: "14:40", points: 5 },
        { name: "swing", start: "14:55", end: "15:50", points: 8 },
        { name: "tango", start: "15:00", end: "15:50", points: 7 },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["choir", "jazz", "opera", "tango"],
    time_limit_ms: 90_000,
    reference_cost_usd: 0.008,
    reference_latency_ms: 12_000,
    wrong_answers: [
      ["choir", "folk", "opera", "swing"],
      ["choir", "jazz", "opera", "swing"],
      ["brass", "folk", "opera", "tango"],
    ],
  },
  {
    slug: "buses-between-two-ends",
    title: "How many buses a timetable takes",
    domain: "planning",
    prompt:
      "A bus line runs between Ashby and Brook by the timetable in the input. A bus that has arrived at an end can leave from that same end 8 minutes later at the earliest. Buses never run empty from one end to the other; before the first trip a bus may stand at either end. What is the smallest number of buses with which all trips can be run? Answer with the number alone.",
    input: {
      trips: [
        { from: "Ashby", leaves: "06:00", arrives: "06:40" },
        { from: "Brook", leaves: "06:10", arrives: "06:55" },
        { from: "Ashby", leaves: "06:30", arrives: "07:10" },
        { from: "Brook", leaves: "06:50", arrives: "07:30" },
        { from: "Ashby", leaves: "07:00", arrives: "07:45" },
        { from: "Brook", leaves: "07:15", arrives: "07:55" },
        { from: "Ashby", leaves: "07:40", arrives: "08:20" },
        { from: "Brook", leaves: "07:55", arrives: "08:35" },
        { from: "Ashby", leaves: "08:05", arrives: "08:50" },
        { from: "Brook", leaves: "08:25", arrives: "09:10" },
        { from: "Ashby", leaves: "08:40", arrives: "09:20" },
      ],
    },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 5,
    time_limit_ms: 90_000,
    reference_cost_usd: 0.008,
    reference_latency_ms: 12_000,
    wrong_answers: [3, 4, 6],
  },
];
