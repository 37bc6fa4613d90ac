import type { SeedTask } from "../types.ts";

/** Plans of space and resources: cutting, assigning, walking, shunting. */
export const layouts: SeedTask[] = [
  {
    slug: "shelves-from-long-boards",
    title: "Boards to be bought",
    domain: "planning",
    prompt:
      "Eleven shelves are to be sawn from boards of 2,400 mm. Their lengths in mm: 960, 720, 980, 460, 1,040, 920, 600, 760, 1,140, 960, 810. Between two shelves sawn from the same board, the saw turns 10 mm into dust; the two ends of a board are clean and need no cut. A shelf is always one piece. What is the smallest number of boards? Answer with the number alone.",
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 5,
    time_limit_ms: 120_000,
    reference_cost_usd: 0.01,
    reference_latency_ms: 14_000,
    wrong_answers: [4, 6],
  },
  {
    slug: "five-hands-five-jobs",
    title: "Who does which job on the boat",
    domain: "planning",
    prompt:
      "Five sailors and five jobs; the input gives the hours that each would need for each job, null where the sailor may not do it. Each sailor does exactly one job. Assign the jobs so that the sum of hours is as small as possible; there is only one best assignment. Answer with a JSON object whose keys are the sailors' names and whose values are the jobs.",
    input: {
      hours: {
        Aino: { roof: 7, pump: 4, fence: 9, engine: null, sails: 6 },
        Bertil: { roof: 5, pump: 6, fence: null, engine: 8, sails: 7 },
        Chiara: { roof: null, pump: 3, fence: 6, engine: 7, sails: 5 },
        Duarte: { roof: 6, pump: 5, fence: 8, engine: 4, sails: null },
        Eskil: { roof: 8, pump: 4, fence: 7, engine: 6, sails: 5 },
      },
    },
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { Aino: "pump", Bertil: "roof", Chiara: "fence", Duarte: "engine", Eskil: "sails" },
    time_limit_ms: 90_000,
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
    wrong_answers: [
      { Aino: "sails", Bertil: "roof", Chiara: "pump", Duarte: "engine", Eskil: "fence" },
      { Aino: "pump", Bertil: "roof", Chiara: "sails", Duarte: "engine", Eskil: "fence" },
    ],
  },
  {
    slug: "cellar-door-and-key",
    title: "The shortest way through a cellar",
    domain: "planning",
    prompt:
      "The input is the map of a cellar, one string per row. S is the start, E the exit, # a wall, k a key on the floor, D a locked door, a dot free floor. A step goes to the next field up, down, left or right; it may not leave the map or enter a wall. The door may be entered only by one who has been on the field of the key; the key is picked up without a step of its own. What is the smallest number of steps from S to E? Answer with the number alone.",
    input: {
      map: ["S..#....", "##.#.##.", "...#..#k", ".###.##.", "....D..#", ".##.#.#.", "...#....", "#....#.E"],
    },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 20,
    time_limit_ms: 120_000,
    reference_cost_usd: 0.01,
    reference_latency_ms: 14_000,
    wrong_answers: [18, 22, 14],
  },
  {
    slug: "wagons-on-three-sidings",
    title: "Shunting wagons into order",
    domain: "planning",
    prompt:
      "Three sidings are open at one end only, so that on each only the wagon next to the open end can be moved. Siding 1 has room for five wagons, siding 2 for two, siding 3 for three. In the input each siding's wagons are listed from its closed end to its open end. One move takes the wagon at the open end of one siding to the open end of another siding that has room. What is the smallest number of moves after which siding 1 holds A, B, C, D, E in this order from its closed to its open end? Answer with the number alone.",
    input: { siding_1: ["B", "D", "A", "C"], siding_2: ["E"], siding_3: [] },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 10,
    time_limit_ms: 120_000,
    reference_cost_usd: 0.012,
    reference_latency_ms: 15_000,
    wrong_answers: [9, 8, 11],
  },
];
