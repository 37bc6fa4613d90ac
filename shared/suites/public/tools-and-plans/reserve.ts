import type { SeedTask } from "../types.ts";

/** Tool calls of a nature reserve: a camera archive, and messages sent across time zones. */
export const reserve: SeedTask[] = [
  {
    slug: "camera-trap-captions",
    title: "Labels for pictures of a wildlife camera",
    domain: "tool_use",
    prompt:
      "Label the pictures in the input. A picture gets the names of all animals seen on it with a confidence of 0.7 or more, each name once, sorted alphabetically. A picture on which a person was seen with a confidence of 0.3 or more gets no labels and is hidden instead. A picture on which nothing is left to label is neither labelled nor hidden. Of pictures of one camera less than 60 seconds apart, only the first is labelled, with the names found on any of them taken together; a hidden picture never belongs to such a series. Make exactly the calls that are needed, in any order.",
    input: {
      pictures: [
        { id: "p-01", camera: "N", time: "04:12:05", seen: [{ name: "fox", confidence: 0.91 }] },
        {
          id: "p-02",
          camera: "N",
          time: "04:12:50",
          seen: [
            { name: "badger", confidence: 0.74 },
            { name: "fox", confidence: 0.55 },
          ],
        },
        { id: "p-03", camera: "S", time: "04:13:00", seen: [{ name: "deer", confidence: 0.69 }] },
        {
          id: "p-04",
          camera: "S",
          time: "05:40:10",
          seen: [
            { name: "person", confidence: 0.34 },
            { name: "deer", confidence: 0.95 },
          ],
        },
        {
          id: "p-05",
          camera: "S",
          time: "05:40:40",
          seen: [
            { name: "owl", confidence: 0.7 },
            { name: "deer", confidence: 0.8 },
            { name: "deer", confidence: 0.77 },
          ],
        },
        { id: "p-06", camera: "N", time: "05:41:00", seen: [{ name: "person", confidence: 0.22 }] },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "set_labels",
        description: "Replaces the labels of a picture.",
        parameters: {
          type: "object",
          properties: {
            picture_id: { type: "string" },
            labels: { type: "array", items: { type: "string" }, minItems: 1 },
          },
          required: ["picture_id", "labels"],
          additionalProperties: false,
        },
      },
      {
        name: "hide_picture",
        description: "Takes a picture out of the public archive.",
        parameters: {
          type: "object",
          properties: { picture_id: { type: "string" } },
          required: ["picture_id"],
          additionalProperties: false,
        },
      },
      {
        name: "delete_picture",
        description: "Deletes a picture for good.",
        parameters: {
          type: "object",
          properties: { picture_id: { type: "string" } },
          required: ["picture_id"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "set_labels", arguments: { picture_id: ["p-01"], labels: [["badger", "fox"]] } },
      { name: "hide_picture", arguments: { picture_id: ["p-04"] } },
      { name: "set_labels", arguments: { picture_id: ["p-05"], labels: [["deer", "owl"]] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    expected_tool_calls: 3,
    wrong_answers: [
      [
        { name: "set_labels", arguments: { picture_id: "p-01", labels: ["fox"] } },
        { name: "set_labels", arguments: { picture_id: "p-02", labels: ["badger"] } },
        { name: "hide_picture", arguments: { picture_id: "p-04" } },
        { name: "set_labels", arguments: { picture_id: "p-05", labels: ["deer", "owl"] } },
      ],
      [
        { name: "set_labels", arguments: { picture_id: "p-01", labels: ["badger", "fox"] } },
        { name: "delete_picture", arguments: { picture_id: "p-04" } },
        { name: "set_labels", arguments: { picture_id: "p-05", labels: ["owl", "deer"] } },
      ],
    ],
  },
  {
    slug: "ranger-shift-reminders",
    title: "Reminders across time zones",
    domain: "tool_use",
    prompt:
      "Each ranger in the input is to be reminded once, 90 minutes before the shift begins, but never between 21:00 and 07:00 of the ranger's own local time: a reminder that would fall at 21:00 or later, or before 07:00, is sent at 20:45 local time of the evening before that quiet time ends. Rangers who are on leave get none. The tool wants UTC. Make exactly the calls that are needed, in any order.",
    input: {
      rangers: [
        { id: "rg-1", utc_offset: "+03:00", shift_start_local: "2026-05-11T10:15", on_leave: false },
        { id: "rg-2", utc_offset: "-07:00", shift_start_local: "2026-05-11T05:30", on_leave: false },
        { id: "rg-3", utc_offset: "+05:30", shift_start_local: "2026-05-11T08:30", on_leave: false },
        { id: "rg-4", utc_offset: "+00:00", shift_start_local: "2026-05-11T12:00", on_leave: true },
        { id: "rg-5", utc_offset: "-03:30", shift_start_local: "2026-05-11T22:45", on_leave: false },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "schedule_reminder",
        description: "Sends a reminder to a ranger at a time.",
        parameters: {
          type: "object",
          properties: {
            ranger_id: { type: "string" },
            at_utc: { type: "string", description: "YYYY-MM-DDTHH:MMZ" },
          },
          required: ["ranger_id", "at_utc"],
          additionalProperties: false,
        },
      },
      {
        name: "call_ranger",
        description: "Rings a ranger at once.",
        parameters: {
          type: "object",
          properties: { ranger_id: { type: "string" } },
          required: ["ranger_id"],
          additionalProperties: false,
        },
      },
      {
        name: "move_shift",
        description: "Moves the start of a ranger's next shift.",
        parameters: {
          type: "object",
          properties: { ranger_id: { type: "string" }, start_local: { type: "string" } },
          required: ["ranger_id", "start_local"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "schedule_reminder", arguments: { ranger_id: ["rg-1"], at_utc: ["2026-05-11T05:45Z"] } },
      { name: "schedule_reminder", arguments: { ranger_id: ["rg-2"], at_utc: ["2026-05-11T03:45Z"] } },
      { name: "schedule_reminder", arguments: { ranger_id: ["rg-3"], at_utc: ["2026-05-11T01:30Z"] } },
      { name: "schedule_reminder", arguments: { ranger_id: ["rg-5"], at_utc: ["2026-05-12T00:15Z"] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    expected_tool_calls: 4,
    wrong_answers: [
      [
        { name: "schedule_reminder", arguments: { ranger_id: "rg-1", at_utc: "2026-05-11T05:45Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-2", at_utc: "2026-05-11T11:00Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-3", at_utc: "2026-05-11T01:30Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-5", at_utc: "2026-05-12T00:45Z" } },
      ],
      [
        { name: "schedule_reminder", arguments: { ranger_id: "rg-1", at_utc: "2026-05-11T08:45Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-2", at_utc: "2026-05-10T20:45Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-3", at_utc: "2026-05-11T07:00Z" } },
        { name: "schedule_reminder", arguments: { ranger_id: "rg-5", at_utc: "2026-05-11T20:45Z" } },
      ],
    ],
  },
];
