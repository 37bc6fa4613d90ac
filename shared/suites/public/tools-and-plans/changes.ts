import type { SeedTask } from "../types.ts";

/** Tool calls whose order matters: renames in a ring, and a rollout by region. */
export const changes: SeedTask[] = [
  {
    slug: "names-in-a-ring",
    title: "Three files whose names are mixed up",
    domain: "tool_use",
    prompt:
      "Three files carry each other's names: the file named ash.csv should be named birch.csv, the one named birch.csv should be named cedar.csv, and the one named cedar.csv should be named ash.csv. A rename fails if a file of the new name exists. The only spare name allowed is spare.csv. Put the names right with as few renames as possible, and begin with the file that is now named birch.csv. All files are in the folder given in the input. Make the calls in the order in which they are to be carried out.",
    input: { folder: "survey/2026", files: ["ash.csv", "birch.csv", "cedar.csv", "cedar.csv.bak"] },
    output_format: "tool_calls",
    tools: [
      {
        name: "rename_file",
        description: "Renames one file inside a folder.",
        parameters: {
          type: "object",
          properties: { folder: { type: "string" }, from: { type: "string" }, to: { type: "string" } },
          required: ["folder", "from", "to"],
          additionalProperties: false,
        },
      },
      {
        name: "copy_file",
        description: "Copies one file inside a folder.",
        parameters: {
          type: "object",
          properties: { folder: { type: "string" }, from: { type: "string" }, to: { type: "string" } },
          required: ["folder", "from", "to"],
          additionalProperties: false,
        },
      },
      {
        name: "delete_file",
        description: "Deletes one file.",
        parameters: {
          type: "object",
          properties: { folder: { type: "string" }, name: { type: "string" } },
          required: ["folder", "name"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      { name: "rename_file", arguments: { folder: ["survey/2026"], from: ["birch.csv"], to: ["spare.csv"] } },
      { name: "rename_file", arguments: { folder: ["survey/2026"], from: ["ash.csv"], to: ["birch.csv"] } },
      { name: "rename_file", arguments: { folder: ["survey/2026"], from: ["cedar.csv"], to: ["ash.csv"] } },
      { name: "rename_file", arguments: { folder: ["survey/2026"], from: ["spare.csv"], to: ["cedar.csv"] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 4_000,
    expected_tool_calls: 4,
    wrong_answers: [
      [
        { name: "rename_file", arguments: { folder: "survey/2026", from: "birch.csv", to: "cedar.csv" } },
        { name: "rename_file", arguments: { folder: "survey/2026", from: "ash.csv", to: "birch.csv" } },
        { name: "rename_file", arguments: { folder: "survey/2026", from: "cedar.csv", to: "ash.csv" } },
      ],
      [
        { name: "rename_file", arguments: { folder: "survey/2026", from: "birch.csv", to: "spare.csv" } },
        { name: "rename_file", arguments: { folder: "survey/2026", from: "cedar.csv", to: "ash.csv" } },
        { name: "rename_file", arguments: { folder: "survey/2026", from: "ash.csv", to: "birch.csv" } },
        { name: "rename_file", arguments: { folder: "survey/2026", from: "spare.csv", to: "cedar.csv" } },
      ],
    ],
  },
  {
    slug: "staged-flag-rollout",
    title: "Turning on a feature region by region",
    domain: "tool_use",
    prompt:
      "Turn on the feature given in the input. It goes to the regions in the order of their active users, the smallest first; regions under a freeze are left out. A region's share in percent is the error budget divided by its error rate, rounded down to a multiple of 5, at most 100 and at least 5. After the last region, and only then, announce the rollout once with the sum of active users of the regions that were turned on. Make the calls in that order.",
    input: {
      flag: "new-route-cards",
      error_budget: 0.9,
      regions: [
        { region: "delta", active_users: 48_200, error_rate: 0.011, freeze: false },
        { region: "fjord", active_users: 9_750, error_rate: 0.034, freeze: false },
        { region: "karst", active_users: 12_400, error_rate: 0.008, freeze: true },
        { region: "steppe", active_users: 31_050, error_rate: 0.25, freeze: false },
        { region: "taiga", active_users: 9_570, error_rate: 0.006, freeze: false },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "set_share",
        description: "Turns a feature on for a share of a region's users.",
        parameters: {
          type: "object",
          properties: {
            flag: { type: "string" },
            region: { type: "string" },
            percent: { type: "integer", minimum: 0, maximum: 100 },
          },
          required: ["flag", "region", "percent"],
          additionalProperties: false,
        },
      },
      {
        name: "announce",
        description: "Announces a rollout.",
        parameters: {
          type: "object",
          properties: { flag: { type: "string" }, users: { type: "integer", minimum: 0 } },
          required: ["flag", "users"],
          additionalProperties: false,
        },
      },
      {
        name: "lift_freeze",
        description: "Ends the freeze of a region.",
        parameters: {
          type: "object",
          properties: { region: { type: "string" } },
          required: ["region"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      { name: "set_share", arguments: { flag: ["new-route-cards"], region: ["taiga"], percent: [100] } },
      { name: "set_share", arguments: { flag: ["new-route-cards"], region: ["fjord"], percent: [25] } },
      { name: "set_share", arguments: { flag: ["new-route-cards"], region: ["steppe"], percent: [5] } },
      { name: "set_share", arguments: { flag: ["new-route-cards"], region: ["delta"], percent: [80] } },
      { name: "announce", arguments: { flag: ["new-route-cards"], users: [98_570] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    expected_tool_calls: 5,
    wrong_answers: [
      [
        { name: "set_share", arguments: { flag: "new-route-cards", region: "fjord", percent: 25 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "taiga", percent: 100 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "steppe", percent: 5 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "delta", percent: 80 } },
        { name: "announce", arguments: { flag: "new-route-cards", users: 98_570 } },
      ],
      [
        { name: "set_share", arguments: { flag: "new-route-cards", region: "taiga", percent: 100 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "fjord", percent: 26 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "steppe", percent: 0 } },
        { name: "set_share", arguments: { flag: "new-route-cards", region: "delta", percent: 80 } },
        { name: "announce", arguments: { flag: "new-route-cards", users: 110_970 } },
      ],
    ],
  },
];
