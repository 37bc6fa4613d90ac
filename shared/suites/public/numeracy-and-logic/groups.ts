import type { SeedTask } from "../types.ts";

/** Sets, rules, relations and worst cases. */
export const groups: SeedTask[] = [
  {
    slug: "museum-rules-that-follow",
    title: "What must be true in the museum at night",
    domain: "reasoning",
    prompt:
      "Rules that always hold: (i) If the door is open, the lights are on. (ii) If the lights are on and the guard is absent, the alarm sounds. (iii) The camera runs exactly when the lights are off. Tonight the alarm is silent, and it is known that the camera is not running or the door is open (perhaps both). Which of these statements must be true tonight?\nS1: The lights are on.\nS2: The door is open.\nS3: The guard is present.\nS4: The camera is not running.\nS5: If the door is shut, the guard is present.\nS6: The door is shut.\nAnswer with a JSON array of the labels.",
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["S1", "S3", "S4", "S5"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 8_000,
    wrong_answers: [
      ["S1", "S3", "S4"],
      ["S1", "S2", "S3", "S4", "S5"],
      ["S3", "S5"],
    ],
  },
  {
    slug: "members-of-three-clubs",
    title: "Overlap of three clubs",
    domain: "reasoning",
    prompt:
      'A village has 75 adults. 38 sing in the choir, 33 belong to the garden society and 29 to the chess club. 15 are in both choir and garden society, 12 in both garden society and chess club, 11 in both choir and chess club; each of these three numbers includes those who are in all three. 5 adults are in none. How many are in all three, how many in exactly two, and how many in the garden society only? Answer with a JSON object {"all_three": number, "exactly_two": number, "garden_only": number}.',
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { all_three: 8, exactly_two: 14, garden_only: 14 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      { all_three: 8, exactly_two: 38, garden_only: 14 },
      { all_three: 8, exactly_two: 22, garden_only: 14 },
      { all_three: 8, exactly_two: 14, garden_only: 6 },
    ],
  },
  {
    slug: "committee-under-bylaws",
    title: "The one lawful committee",
    domain: "reasoning",
    prompt:
      "The input gives the members of a housing cooperative, its by-laws for the audit committee, and five proposed committees. Exactly one of the proposals keeps every by-law. Which one? Answer with the letter of the choice, or with its text exactly as written.\nA) Abel, Imke, Oda, Wim\nB) Abel, Fenna, Oda, Wim\nC) Brecht, Fenna, Imke, Oda\nD) Abel, Brecht, Imke, Wim\nE) Abel, Fenna, Imke, Oda",
    input: {
      members: [
        { name: "Abel", house: "North", joined: 2011, board: false },
        { name: "Brecht", house: "North", joined: 2018, board: false },
        { name: "Fenna", house: "East", joined: 2019, board: false },
        { name: "Imke", house: "West", joined: 2016, board: true },
        { name: "Oda", house: "West", joined: 2024, board: false },
        { name: "Wim", house: "East", joined: 2013, board: true },
      ],
      bylaws: [
        "The committee has four members.",
        "No house has more than two members on it, and every house has at least one.",
        "At most one of its members sits on the board.",
        "At least two of its members joined before 2018.",
        "Brecht and Fenna may not both serve.",
        "Whoever joined after 2020 may serve only together with a member of the same house who joined before 2018.",
      ],
    },
    output_format: "text",
    grader: {
      type: "multiple_choice",
      choices: [
        "Abel, Imke, Oda, Wim",
        "Abel, Fenna, Oda, Wim",
        "Brecht, Fenna, Imke, Oda",
        "Abel, Brecht, Imke, Wim",
        "Abel, Fenna, Imke, Oda",
      ],
    },
    expected_output: "Abel, Fenna, Imke, Oda",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: ["A", "B", "D"],
  },
  {
    slug: "first-cousins-of-tilde",
    title: "Counting cousins in a family chronicle",
    domain: "reasoning",
    prompt:
      'From a family chronicle: "Old Hedda had three children: Ivo, Runa and Sten. Ivo married Petra and they had two daughters, Tilde and Una. Petra had a sister, Lotte, who never married but adopted a boy, Vito. Runa had one son, Wendel, with her first husband, and twins, Xenia and York, with her second, who brought his daughter Zora from an earlier marriage. Sten stayed childless; his godson Anselm grew up in his house. Wendel has a daughter, Birte." Count as first cousins of a person all the children, by birth or adoption, of the sisters and brothers of that person\'s parents; step-children and god-children do not count. How many first cousins does Tilde have? Answer with the number alone.',
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 4,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [3, 5, 6],
  },
  {
    slug: "draws-in-the-dark",
    title: "How many buttons to be certain",
    domain: "reasoning",
    prompt:
      "A jar holds 9 red, 7 blue, 3 green and 2 white buttons. In the dark you take buttons one at a time without looking. What is the smallest number of buttons you must take to be certain of having four of one colour and, besides these four, two of one other colour? Answer with the number alone.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 13,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 8_000,
    wrong_answers: [12, 10, 11],
  },
];
