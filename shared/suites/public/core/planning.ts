import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `planning`: a building schedule, a sledge load, a delivery tour, a video call. */
export const planning: SeedTask[] = [
  {
    slug: "core-planning-barn-schedule",
    title: "The shortest building time",
    domain: "planning",
    prompt:
      "Two crews build a barn; the jobs are in `input`. A job takes `days` whole days without a break, needs `crews` crews for all of that time, and may begin only when all jobs in `after` are finished. There is a single crane: jobs with `crane` true can never run at the same time. Work begins on day 1; a job of 2 days that begins on day 1 fills days 1 and 2, and a job after it can begin on day 3. What is the number of the day on which the whole barn can be finished at the earliest? Answer with the number alone.",
    input: {
      crews: 2,
      jobs: [
        { job: "survey", days: 2, crews: 1, crane: false, after: [] },
        { job: "footings", days: 5, crews: 1, crane: true, after: ["survey"] },
        { job: "drain", days: 6, crews: 1, crane: false, after: ["survey"] },
        { job: "frame", days: 6, crews: 2, crane: true, after: ["footings"] },
        { job: "roof", days: 3, crews: 1, crane: true, after: ["frame"] },
        { job: "tank", days: 3, crews: 1, crane: true, after: ["drain"] },
        { job: "wiring", days: 5, crews: 1, crane: false, after: ["frame", "tank"] },
        { job: "paint", days: 3, crews: 1, crane: false, after: ["roof"] },
      ],
    },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 23,
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 12_000,
    wrong_answers: ["19", "22", "24", "33"],
  },
  {
    slug: "core-planning-sledge-load",
    title: "What goes on the sledge",
    domain: "planning",
    prompt:
      "A survey party loads one sledge from the things in `input`; each is taken whole or left. The load may weigh at most 25 kg and fill at most 20 litres. The drill may be taken only together with the echo-sounder. The altimeter and the camera share a mount, so at most one of them is taken. Choose the load with the greatest total value; there is exactly one such load. Answer with the names of its things as a JSON array of strings.",
    input: {
      max_kg: 25,
      max_litres: 20,
      things: [
        { name: "altimeter", kg: 4, litres: 3, value: 9 },
        { name: "barograph", kg: 7, litres: 6, value: 14 },
        { name: "camera", kg: 3, litres: 4, value: 7 },
        { name: "drill", kg: 9, litres: 7, value: 19 },
        { name: "echo-sounder", kg: 6, litres: 5, value: 13 },
        { name: "flares", kg: 2, litres: 3, value: 4 },
        { name: "generator", kg: 11, litres: 9, value: 22 },
        { name: "heater", kg: 5, litres: 6, value: 10 },
      ],
    },
    output_format: "json",
    output_schema: { type: "array", items: { type: "string" } },
    grader: { type: "set_f1" },
    expected_output: ["barograph", "echo-sounder", "generator"],
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 12_000,
    wrong_answers: [
      ["altimeter", "drill", "generator"],
      ["altimeter", "barograph", "camera", "drill"],
      ["altimeter", "echo-sounder", "flares", "generator"],
    ],
  },
  {
    slug: "core-planning-bread-tour",
    title: "A delivery tour with opening times",
    domain: "planning",
    prompt:
      "A van leaves the yard at minute 0, calls once at each of the shops P, Q, R, S and T, and returns to the yard. `input` gives the driving minutes between any two places (the same both ways) and, for each shop, the minutes between which unloading may begin. A van that comes too early waits; one that comes after `latest` is too late. Unloading takes 5 minutes at each shop. Among the orders that meet every opening time, choose the one with the fewest driving minutes in all, the way back to the yard included; waiting and unloading do not count as driving. Answer with the five shop letters in the order of the visits, joined by hyphens, as in A-B-C-D-E, and nothing else.",
    input: {
      unloading_minutes: 5,
      driving_minutes: {
        yard: { P: 12, Q: 25, R: 18, S: 30, T: 22 },
        P: { Q: 14, R: 9, S: 20, T: 27 },
        Q: { R: 17, S: 11, T: 16 },
        R: { S: 21, T: 13 },
        S: { T: 10 },
      },
      shops: {
        P: { earliest: 45, latest: 150 },
        Q: { earliest: 0, latest: 40 },
        R: { earliest: 60, latest: 120 },
        S: { earliest: 0, latest: 75 },
        T: { earliest: 45, latest: 120 },
      },
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "Q-S-T-R-P",
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 12_000,
    wrong_answers: ["P-Q-S-T-R", "R-T-S-Q-P", "P-R-T-S-Q", "T-S-Q-R-P"],
  },
  {
    slug: "core-planning-video-call",
    title: "The one slot for a call",
    domain: "planning",
    prompt:
      'Find the earliest time on 11 June 2031 (UTC) for a video call of 45 minutes. It begins on a full quarter of an hour UTC. Each person in `input` must be free for the whole call and inside the working hours 08:00 to 18:00 of the own local time; the busy times of a person are local too, and `utc_offset_hours` is local time minus UTC. One of the rooms must also be free for the whole call; the busy times of rooms are in UTC. A call may begin at the very minute at which something else ends, and end when something else begins. Answer with JSON: {"start_utc": "HH:MM", "room": string}.',
    input: {
      minutes: 45,
      working_hours: ["08:00", "18:00"],
      people: [
        {
          name: "Ilse",
          utc_offset_hours: 3,
          busy: [
            ["08:00", "15:30"],
            ["17:15", "18:00"],
          ],
        },
        {
          name: "Tam",
          utc_offset_hours: 0,
          busy: [
            ["08:00", "09:00"],
            ["12:30", "13:15"],
          ],
        },
        {
          name: "Rook",
          utc_offset_hours: -4,
          busy: [
            ["08:45", "09:15"],
            ["10:30", "11:00"],
          ],
        },
      ],
      rooms: [
        { name: "Alder", busy: [["12:00", "14:00"]] },
        {
          name: "Birch",
          busy: [
            ["13:00", "13:30"],
            ["14:15", "15:00"],
          ],
        },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: { start_utc: { type: "string" }, room: { type: "string" } },
      required: ["start_utc", "room"],
    },
    grader: { type: "json_fields" },
    expected_output: { start_utc: "13:30", room: "Birch" },
    time_limit_ms: 90_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 10_000,
    wrong_answers: [
      { start_utc: "13:15", room: "Birch" },
      { start_utc: "14:00", room: "Alder" },
      { start_utc: "09:00", room: "Alder" },
      { start_utc: "16:30", room: "Birch" },
    ],
  },
];
