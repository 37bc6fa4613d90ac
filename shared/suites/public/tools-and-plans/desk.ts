import type { SeedTask } from "../types.ts";

/** Tool calls of an office: duplicate tickets, and a review of access rights. */
export const desk: SeedTask[] = [
  {
    slug: "double-reported-faults",
    title: "Tidying up duplicate tickets",
    domain: "tool_use",
    prompt:
      "The input lists the tickets of a tram workshop. Two tickets are duplicates when vehicle and part are the same and the later one was opened at most 48 hours after the earlier one was. Close every open duplicate and point it to the oldest ticket of its group, provided that this oldest ticket is still open; touch nothing else. Make exactly the calls that are needed, in any order.",
    input: {
      tickets: [
        { id: "T-901", vehicle: 14, part: "door", opened: "2026-02-02T07:10", state: "open" },
        { id: "T-902", vehicle: 14, part: "heater", opened: "2026-02-02T07:12", state: "open" },
        { id: "T-903", vehicle: 41, part: "door", opened: "2026-02-02T09:00", state: "open" },
        { id: "T-904", vehicle: 14, part: "door", opened: "2026-02-03T18:45", state: "open" },
        { id: "T-905", vehicle: 22, part: "bell", opened: "2026-02-03T19:00", state: "closed" },
        { id: "T-906", vehicle: 22, part: "bell", opened: "2026-02-04T06:30", state: "open" },
        { id: "T-907", vehicle: 41, part: "door", opened: "2026-02-04T09:05", state: "open" },
        { id: "T-908", vehicle: 14, part: "heater", opened: "2026-02-04T07:12", state: "open" },
        { id: "T-909", vehicle: 14, part: "door", opened: "2026-02-04T07:00", state: "closed" },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "close_ticket",
        description: "Closes a ticket; duplicate_of is null unless it is closed as a duplicate.",
        parameters: {
          type: "object",
          properties: {
            ticket_id: { type: "string" },
            duplicate_of: { type: ["string", "null"] },
          },
          required: ["ticket_id", "duplicate_of"],
          additionalProperties: false,
        },
      },
      {
        name: "reopen_ticket",
        description: "Opens a closed ticket again.",
        parameters: {
          type: "object",
          properties: { ticket_id: { type: "string" } },
          required: ["ticket_id"],
          additionalProperties: false,
        },
      },
      {
        name: "add_comment",
        description: "Adds a comment to a ticket.",
        parameters: {
          type: "object",
          properties: { ticket_id: { type: "string" }, text: { type: "string" } },
          required: ["ticket_id", "text"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "close_ticket", arguments: { ticket_id: ["T-904"], duplicate_of: ["T-901"] } },
      { name: "close_ticket", arguments: { ticket_id: ["T-908"], duplicate_of: ["T-902"] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    expected_tool_calls: 2,
    wrong_answers: [
      [
        { name: "close_ticket", arguments: { ticket_id: "T-904", duplicate_of: "T-901" } },
        { name: "close_ticket", arguments: { ticket_id: "T-908", duplicate_of: "T-902" } },
        { name: "close_ticket", arguments: { ticket_id: "T-907", duplicate_of: "T-903" } },
      ],
      [{ name: "close_ticket", arguments: { ticket_id: "T-904", duplicate_of: "T-901" } }],
      [
        { name: "close_ticket", arguments: { ticket_id: "T-904", duplicate_of: "T-901" } },
        { name: "close_ticket", arguments: { ticket_id: "T-908", duplicate_of: "T-902" } },
        { name: "close_ticket", arguments: { ticket_id: "T-906", duplicate_of: "T-905" } },
      ],
    ],
  },
  {
    slug: "observatory-access-review",
    title: "The yearly review of access rights",
    domain: "tool_use",
    prompt:
      "Carry out the access review of 1 October 2026 for the accounts in the input. Rules, the first that fits decides: (1) protected accounts are never touched; (2) if the person has left, revoke; (3) if the account was not used in the last 90 days, revoke (a use exactly 90 days ago still counts as use); (4) if the account expires at most 30 days after the day of the review, extend it to one year after its present expiry; (5) otherwise do nothing. Make exactly the calls that are needed, in any order.",
    input: {
      accounts: [
        { id: "acc-dome", person_left: false, last_used: "2026-09-28", expires: "2026-10-20", protected: false },
        { id: "acc-mirror", person_left: true, last_used: "2026-09-30", expires: "2027-01-15", protected: false },
        { id: "acc-root", person_left: true, last_used: "2025-01-01", expires: "2026-10-02", protected: true },
        { id: "acc-guide", person_left: false, last_used: "2026-07-03", expires: "2027-03-01", protected: false },
        { id: "acc-plate", person_left: false, last_used: "2026-07-02", expires: "2026-10-05", protected: false },
        { id: "acc-tower", person_left: false, last_used: "2026-09-15", expires: "2026-11-02", protected: false },
        { id: "acc-lens", person_left: false, last_used: "2026-08-30", expires: "2026-10-31", protected: false },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "revoke_access",
        description: "Takes all rights from an account and keeps its data.",
        parameters: {
          type: "object",
          properties: { account_id: { type: "string" } },
          required: ["account_id"],
          additionalProperties: false,
        },
      },
      {
        name: "extend_access",
        description: "Gives an account a new day of expiry.",
        parameters: {
          type: "object",
          properties: { account_id: { type: "string" }, until: { type: "string", description: "YYYY-MM-DD" } },
          required: ["account_id", "until"],
          additionalProperties: false,
        },
      },
      {
        name: "delete_account",
        description: "Deletes an account and its data for good.",
        parameters: {
          type: "object",
          properties: { account_id: { type: "string" } },
          required: ["account_id"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "extend_access", arguments: { account_id: ["acc-dome"], until: ["2027-10-20"] } },
      { name: "revoke_access", arguments: { account_id: ["acc-mirror"] } },
      { name: "revoke_access", arguments: { account_id: ["acc-plate"] } },
      { name: "extend_access", arguments: { account_id: ["acc-lens"], until: ["2027-10-31"] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    expected_tool_calls: 4,
    wrong_answers: [
      [
        { name: "extend_access", arguments: { account_id: "acc-dome", until: "2027-10-01" } },
        { name: "revoke_access", arguments: { account_id: "acc-mirror" } },
        { name: "revoke_access", arguments: { account_id: "acc-plate" } },
        { name: "extend_access", arguments: { account_id: "acc-lens", until: "2027-10-01" } },
      ],
      [
        { name: "extend_access", arguments: { account_id: "acc-dome", until: "2027-10-20" } },
        { name: "delete_account", arguments: { account_id: "acc-mirror" } },
        { name: "revoke_access", arguments: { account_id: "acc-guide" } },
        { name: "revoke_access", arguments: { account_id: "acc-plate" } },
        { name: "extend_access", arguments: { account_id: "acc-lens", until: "2027-10-31" } },
      ],
    ],
  },
];
