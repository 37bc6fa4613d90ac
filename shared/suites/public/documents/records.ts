import type { SeedTask } from "../types.ts";

/** Untidy logs, notes and lists, kept by people and machines. */
export const records: SeedTask[] = [
  {
    slug: "pump-station-alarm-log",
    title: "How long a pump station was down",
    domain: "data_extraction",
    prompt:
      "The input is a log that runs over one midnight. A station is down from the moment when its first alarm is raised until the moment when none of its alarms is raised any more; each alarm has a letter. Raising an alarm that is already raised changes nothing, nor does clearing one that is not raised. A line with ALL CLEAR clears every alarm of that station. Lines of TEST alarms do not count. For how many seconds in all was station P3 down? Answer with the number alone.",
    input: {
      log: "22:58:10 P1 RAISE a\n23:04:30 P3 RAISE a\n23:04:55 P3 RAISE b\n23:05:00 P2 RAISE a\n23:06:10 P3 CLEAR a\n23:07:20 P3 RAISE b\n23:09:15 P3 CLEAR b\n23:09:16 P1 ALL CLEAR\n23:40:00 P3 RAISE t TEST\n23:41:30 P3 CLEAR t TEST\n23:58:45 P3 RAISE c\n23:59:50 P2 CLEAR a\n00:00:20 P3 RAISE d\n00:01:05 P3 CLEAR a\n00:02:40 P3 CLEAR c\n00:03:00 P13 ALL CLEAR\n00:04:25 P3 ALL CLEAR\n00:10:00 P3 CLEAR d\n00:31:12 P3 RAISE a\n00:31:12 P2 RAISE b\n00:32:02 P3 CLEAR a",
    },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 675,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 9_000,
    wrong_answers: [765, 490, 590, 1010],
  },
  {
    slug: "harbour-works-minutes",
    title: "Action items with due dates",
    domain: "data_extraction",
    prompt:
      'Read the minutes in the input and list the actions that are open at their end. Answer with a JSON object {"actions": [{"owner": first name, "due": "YYYY-MM-DD"}]}, one entry for each open action, in any order. What was finished, dropped or only wished for is no open action.',
    input: {
      minutes:
        "Harbour works, meeting of Thursday 11 June 2026\n1. Crane rails. Maarit reports the survey finished. Next: she sends the drawings to the builder by Tuesday 16 June.\n2. Noise. Iker was to write to the neighbours by 5 June; not done yet. He asks for a week from today; agreed.\n3. Paint. Someone ought to look at the bollards one day. Nobody takes it up.\n4. Fuel store. Solveig orders the new hoses tomorrow. Item 7 changes this.\n5. Permit. Dragan asks the port office for the form; due on the last working day (Monday to Friday) of this month. Maarit will check his letter first, three calendar days before that.\n6. Website. Iker's new page is dropped; the old one stays.\n7. Hoses again. The dealer is shut until the 18th; Solveig orders them on the first working day after that date.\nNext meeting: Thursday 25 June.",
    },
    output_format: "json",
    grader: { type: "json_fields", unordered: ["actions"] },
    expected_output: {
      actions: [
        { owner: "Maarit", due: "2026-06-16" },
        { owner: "Iker", due: "2026-06-18" },
        { owner: "Dragan", due: "2026-06-30" },
        { owner: "Maarit", due: "2026-06-27" },
        { owner: "Solveig", due: "2026-06-19" },
      ],
    },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: [
      {
        actions: [
          { owner: "Maarit", due: "2026-06-16" },
          { owner: "Iker", due: "2026-06-12" },
          { owner: "Dragan", due: "2026-06-30" },
          { owner: "Maarit", due: "2026-06-27" },
          { owner: "Solveig", due: "2026-06-12" },
        ],
      },
      {
        actions: [
          { owner: "Maarit", due: "2026-06-16" },
          { owner: "Iker", due: "2026-06-18" },
          { owner: "Dragan", due: "2026-06-30" },
          { owner: "Solveig", due: "2026-06-19" },
        ],
      },
    ],
  },
  {
    slug: "night-shift-hours",
    title: "Paid hours from a duty book",
    domain: "data_extraction",
    prompt:
      "The input is a page of a duty book. Times are 24-hour; a shift whose end is earlier than its start ends on the next day. From each shift of more than six hours 30 minutes are deducted for the break, unless the note says that there was no break. Notes change the times where they say so. How many minutes are paid to each person? Answer with a JSON object whose keys are the names and whose values are minutes.",
    input: {
      page: "Fri  Leif    21:30-05:45\nFri  Samira  14:00-20:00\nSat  Leif    22:00-04:00   came 20 min late\nSat  Corin   05:40-13:10   no break, alarm\nSat  Samira  13:00-21:30   left at 19:10, ill\nSun  Corin   23:15-07:00   stayed 25 min longer\nSun  Samira  did not come\nSun  Leif    12:00-18:00   took over from Samira, stayed till 18:05",
    },
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { Leif: 1140, Samira: 700, Corin: 910 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: [
      { Leif: 1170, Samira: 730, Corin: 910 },
      { Leif: 1140, Samira: 700, Corin: 880 },
      { Leif: 1140, Samira: 840, Corin: 885 },
    ],
  },
  {
    slug: "peat-bog-sensor-file",
    title: "Mean and peak of a sensor file",
    domain: "data_extraction",
    prompt:
      "The input is a file from a soil sensor. Lines that begin with # are remarks; a remark about the unit holds for the lines after it until the next such remark. A value of -999 or 'err' is missing. Where a time stamp occurs twice, only the later line counts. Fahrenheit is converted by C = (F - 32) * 5 / 9. Answer with a JSON object: count (valid readings), mean_c (their mean in degrees Celsius, rounded to two decimals), max_at (the time stamp of the highest reading, as printed).",
    input: {
      file: "# station Vosk, depth 10 cm\n# unit C\n06:00;8.4\n07:00;8.9\n08:00;-999\n09:00;10.2\n# unit F\n10:00;53.6\n11:00;57.2\n12:00;err\n13:00;59.9\n# unit C\n# sensor wiped with a cloth, 14:00 repeated\n14:00;51.8\n14:00;15.1\n15:00;14.6\n09:00;10.8\n16:00;12.0",
    },
    output_format: "json",
    grader: { type: "json_fields", fields: { mean_c: { tolerance: 0.005 } } },
    expected_output: { count: 9, mean_c: 12.37, max_at: "13:00" },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: [
      { count: 9, mean_c: 12.3, max_at: "13:00" },
      { count: 10, mean_c: 16.11, max_at: "14:00" },
      { count: 11, mean_c: 15.6, max_at: "14:00" },
    ],
  },
  {
    slug: "lantern-walk-sign-ups",
    title: "Who takes part in the lantern walk",
    domain: "data_extraction",
    prompt:
      "The input is the sign-up list of a lantern walk, in the order in which the lines were written. Who takes part in the end? One person may be written in several ways (initials, nicknames in brackets, swapped order with a comma). Answer with a JSON array of the participants' last names; there are no two participants with the same last name.",
    input: {
      lines: [
        "Okonjo, Tamsin",
        "Rurik Vale (Rur)",
        "B. Castellan + child (child goes with grandmother Zaleska, see below)",
        "T. Okonjo - twice by mistake, sorry",
        "Mireille Duskin?? not sure yet",
        "Rur can't come",
        "Ansgar Pell",
        "Zaleska, Wanda, and grandchild Nino Castellan-Zaleska",
        "B. Castellan: I cannot come myself, the child still does",
        "M. Duskin: yes, sure now!",
        "Pell, A. - cancelled",
        "Hesper Lindqvist instead of A. Pell",
        "Rurik Vale: can come after all",
        "H. Lindqvist: waiting list only, if there are fewer than five others",
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["Okonjo", "Vale", "Duskin", "Zaleska", "Castellan-Zaleska"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      ["Okonjo", "Vale", "Duskin", "Zaleska", "Castellan-Zaleska", "Lindqvist"],
      ["Okonjo", "Castellan", "Duskin", "Zaleska", "Castellan-Zaleska"],
      ["Okonjo", "Vale", "Duskin", "Zaleska"],
    ],
  },
];
