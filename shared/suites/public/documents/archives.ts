import type { SeedTask } from "../types.ts";

/** Evidence to be picked out of archives: the right person, the right release, the right version of a figure. */
export const archives: SeedTask[] = [
  {
    slug: "release-with-working-fix",
    title: "The first release that is safe to install",
    domain: "retrieval",
    prompt:
      "Using only the release notes in the input: a user of the editor on the desktop loses undo history after printing. Which is the lowest version of the desktop product that has a working fix for this and has not been withdrawn? Answer with the version number alone.",
    input: {
      notes: [
        { id: "r1", text: "Quillboard 4.1 (desktop). Known issue #512: undo history is lost after printing." },
        { id: "r2", text: "Quillboard 4.2 (desktop). Fixes #498: undo history is lost after closing a tab." },
        { id: "r3", text: "Quillboard Web 4.2. Fixes #512." },
        { id: "r4", text: "Quillboard 4.3 (desktop). Fixes #512." },
        {
          id: "r5",
          text: "From version 4.4 on, the desktop product Quillboard is called Penshore. Numbering goes on.",
        },
        { id: "r6", text: "Notice: the fix for #512 in desktop 4.3 did not work and is taken up again under #530." },
        { id: "r7", text: "Penshore 4.4. New icons." },
        { id: "r8", text: "Penshore 4.5. Fixes #530." },
        {
          id: "r9",
          text: "Notice: Penshore 4.5 is withdrawn because of a crash at start. All its fixes are contained in 4.6.",
        },
        { id: "r10", text: "Penshore Web 4.5. Fixes #530." },
        { id: "r11", text: "Penshore 4.7. Faster printing." },
      ],
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "4.6",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    wrong_answers: ["4.5", "4.3", "4.7"],
  },
  {
    slug: "two-witnesses-disagree",
    title: "The two statements that cannot both be true",
    domain: "retrieval",
    prompt:
      "The input holds statements about the evening on which a greenhouse window was broken. Exactly two of them contradict each other; all others can be true together with either of the two. Which two? Answer with a JSON array of their ids.",
    input: {
      statements: [
        { id: "v1", text: "The gardener: I locked the greenhouse at eight and gave the only key to Yolande at once." },
        {
          id: "v2",
          text: "The cook: I heard glass break a little before half past eight. The radio news, which begin at half past, had not started.",
        },
        {
          id: "v3",
          text: "The driver: from eight until the news were over at twenty to nine I sat in the kitchen with the cook. I heard nothing, but I am hard of hearing.",
        },
        {
          id: "v4",
          text: "Yolande: at ten past eight I hung the key on its hook in the hall, and until nine I did not leave the hall.",
        },
        {
          id: "v5",
          text: "The postman: when I passed at a quarter past eight, every window of the greenhouse was whole.",
        },
        {
          id: "v6",
          text: "The neighbour: at twenty past eight I saw Yolande come out of the greenhouse and lock its door.",
        },
        { id: "v7", text: "The boy: I kicked my ball over the wall, I do not know what it hit. It was getting dark." },
        { id: "v8", text: "The maid: at half past eight the key hung on its hook in the hall." },
        {
          id: "v9",
          text: "The cook's sister: I rang the cook at half past eight; she told me that something had broken outside.",
        },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["v4", "v6"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      ["v2", "v3"],
      ["v2", "v5"],
      ["v6", "v8"],
    ],
  },
  {
    slug: "the-other-halvorsen",
    title: "Passages about one of two namesakes",
    domain: "retrieval",
    prompt:
      "The archive in the input speaks above all of two people named Halvorsen, a botanist and an engineer. Which passages say something about the botanist? Answer with a JSON array of ids, with every such passage and no other.",
    input: {
      passages: [
        { id: "h1", text: "Signe Halvorsen collected mosses on Brent Island for thirty summers." },
        { id: "h2", text: "Sverre Halvorsen built the island's first wind pump in 1931." },
        { id: "h3", text: "In 1934 Dr. Halvorsen's herbarium was lost in a fire; she began again the same week." },
        { id: "h4", text: "S. Halvorsen's patent for a feathering blade was sold to a dairy." },
        { id: "h5", text: "The engineer's cousin lent him her boat whenever she was not out for mosses." },
        {
          id: "h6",
          text: "A road on Brent Island, Halvorsen Way, leads to the wind pump and is named after its builder.",
        },
        { id: "h7", text: "Miss Halvorsen never learned to swim, and said that a moss does not either." },
        {
          id: "h8",
          text: "Sverre and his wife Dagny moved to the mainland in 1940. Mrs. Halvorsen opened a bakery there.",
        },
        { id: "h9", text: "The moss Orthella signeae bears her first name; she thought it too great an honour." },
        { id: "h10", text: "Halvorsen's notebooks, 41 in number, describe bearings, gears and a great many failures." },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["h1", "h3", "h5", "h7", "h9"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    wrong_answers: [
      ["h1", "h3", "h7", "h9"],
      ["h1", "h3", "h4", "h5", "h7", "h9"],
      ["h1", "h3", "h5", "h7", "h8", "h9"],
    ],
  },
  {
    slug: "footbridge-final-budget",
    title: "What a footbridge may cost now",
    domain: "retrieval",
    prompt:
      "Using only the council papers in the input: by how many dollars does the budget in force for the Mill Lane footbridge exceed the amount first granted for it? Answer with the number alone.",
    input: {
      papers: [
        { id: "c1", text: "Resolution 14/2023: for the Mill Lane footbridge 410,000 dollars are granted." },
        { id: "c2", text: "Resolution 15/2023: for the Mill Street road bridge 1,900,000 dollars are granted." },
        {
          id: "c3",
          text: "Motion 8/2024: to raise the Mill Lane footbridge by 60,000 dollars. Vote: 7 for, 7 against.",
        },
        { id: "c4", text: "Standing orders: a motion passes only with more votes for it than against it." },
        { id: "c5", text: "Resolution 22/2024: the grant for the Mill Lane footbridge is raised by 12 percent." },
        { id: "c6", text: "Resolution 29/2024: the grant for the Mill Street road bridge is cut by 10 percent." },
        { id: "c7", text: "Minutes, March 2025: the clerk expects the Mill Lane footbridge to cost 480,000 dollars." },
        {
          id: "c8",
          text: "Resolution 3/2025: of the grant for the Mill Lane footbridge as raised, 25,000 dollars are moved to the playground.",
        },
        { id: "c9", text: "Resolution 9/2025: resolution 3/2025 is amended: for 25,000 read 15,000." },
      ],
    },
    output_format: "text",
    grader: { type: "numeric" },
    expected_output: 34200,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    wrong_answers: [24200, 101400, 49200],
  },
  {
    slug: "depots-with-cold-rooms",
    title: "Depots that can take cold goods",
    domain: "retrieval",
    prompt:
      "Using only the dispatches in the input, in which later ones override earlier ones: which depots are open on 1 September 2026 and have a cold room that works on that day? Answer with a JSON array of depot names in lower case.",
    input: {
      dispatches: [
        { id: "d1", date: "2026-05-02", text: "Depots with a cold room: Arden, Bexhall, Corrie, Dunmore, Esk." },
        { id: "d2", date: "2026-05-30", text: "Farrow gets a cold room; it is in service from 15 August." },
        {
          id: "d3",
          date: "2026-06-11",
          text: "The cold room at Corrie is out of order; repair expected by the end of August.",
        },
        { id: "d4", date: "2026-06-20", text: "Dunmore is shut from 1 July to 31 August for rebuilding." },
        {
          id: "d5",
          date: "2026-07-08",
          text: "Bexhall is given up on 31 August; its stock goes to Bexhall Cross, which has no cold room.",
        },
        { id: "d6", date: "2026-08-03", text: "The rebuilding of Dunmore takes a fortnight longer than announced." },
        { id: "d7", date: "2026-08-19", text: "Farrow: the cold room went into service as planned." },
        { id: "d8", date: "2026-08-25", text: "Esk: on the first of each month the depot opens at noon only." },
        { id: "d9", date: "2026-08-28", text: "Corrie: the repair is done, the cold room works again." },
        { id: "d10", date: "2026-09-03", text: "Arden: the cold room has failed this morning." },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["arden", "corrie", "esk", "farrow"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    wrong_answers: [
      ["arden", "esk", "farrow"],
      ["arden", "corrie", "dunmore", "esk", "farrow"],
      ["corrie", "esk", "farrow"],
    ],
  },
];
