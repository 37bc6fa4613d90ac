import type { SeedTask } from "../types.ts";

/** Questions about small collections of passages, with near-duplicates and outdated versions among them. */
export const corpora: SeedTask[] = [
  {
    slug: "winch-bolt-torque",
    title: "The torque for one particular winch",
    domain: "retrieval",
    prompt:
      'Using only the passages in the input: to what torque, in newton metres, must the drum bolts of a winch of type WX-200S with serial number 48,120 be tightened when it is reassembled with dry bolts? Answer with a JSON object {"torque_nm": number, "sources": [ids]}, where sources holds exactly the passages that the answer follows from.',
    input: {
      passages: [
        { id: "t1", text: "WX-200, all serial numbers: drum bolts 64 Nm, frame bolts 90 Nm." },
        { id: "t2", text: "WX-200S, serial numbers up to 47,999: drum bolts 70 Nm, frame bolts 96 Nm." },
        { id: "t3", text: "WX-200S, serial numbers from 48,000: drum bolts 80 Nm, frame bolts 96 Nm." },
        { id: "t4", text: "WX-220S, serial numbers from 48,000: drum bolts 85 Nm, frame bolts 110 Nm." },
        { id: "t5", text: "All figures in the torque tables of the WX series hold for oiled bolts." },
        {
          id: "t6",
          text: "WX series: where a table is made for oiled bolts, raise its drum bolt figures by 15 percent if the bolts are dry.",
        },
        { id: "t7", text: "WY series: with dry bolts, raise all figures by 20 percent." },
        { id: "t8", text: "Reassembly: turn the drum by hand before tightening; tighten crosswise in three steps." },
      ],
    },
    output_format: "json",
    grader: { type: "json_fields", unordered: ["sources"] },
    expected_output: { torque_nm: 92, sources: ["t3", "t5", "t6"] },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    wrong_answers: [
      { torque_nm: 80, sources: ["t3"] },
      { torque_nm: 96, sources: ["t3", "t5", "t7"] },
      { torque_nm: 80.5, sources: ["t2", "t5", "t6"] },
    ],
  },
  {
    slug: "objection-deadline-orlen",
    title: "The last day for an objection",
    domain: "retrieval",
    prompt:
      'Using only the passages in the input: a notice of the Orlen water board was delivered to Ms Quill on Wednesday 22 April 2026. She lives outside the district. What is the last day on which her objection is in time? Answer with a JSON object {"last_day": "YYYY-MM-DD", "sources": [ids]}, where sources holds exactly the passages that the answer follows from.',
    input: {
      passages: [
        {
          id: "w1",
          text: "Statute of 2019, section 8: an objection must reach the board within ten business days of delivery.",
        },
        {
          id: "w2",
          text: "Statute of 2023, section 8 (replaces section 8 of 2019): an objection must reach the board within six business days of delivery; for persons living outside the district, within eight.",
        },
        { id: "w3", text: "Statute of 2019, section 2: the day of delivery is not counted." },
        {
          id: "w4",
          text: "Statute of 2019, section 3: business days are Monday to Friday, save for the holidays of the board.",
        },
        { id: "w5", text: "Holidays of the board in 2025: 1 January, 18 April, 2 May, 25 and 26 December." },
        { id: "w6", text: "Holidays of the board in 2026: 1 January, 3 April, 1 May, 25 and 28 December." },
        { id: "w7", text: "Guide for fishermen: licences are renewed within eight calendar days." },
        { id: "w8", text: "The office is open to visitors on Tuesdays and Thursdays." },
      ],
    },
    output_format: "json",
    grader: { type: "json_fields", unordered: ["sources"] },
    expected_output: { last_day: "2026-05-05", sources: ["w2", "w3", "w4", "w6"] },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      { last_day: "2026-05-04", sources: ["w2", "w3", "w4", "w5"] },
      { last_day: "2026-05-04", sources: ["w2", "w3", "w4", "w6"] },
      { last_day: "2026-05-07", sources: ["w1", "w3", "w4", "w6"] },
    ],
  },
  {
    slug: "questions-the-guide-answers",
    title: "What a visitor guide can answer",
    domain: "retrieval",
    prompt:
      "The input holds passages of the guide to an arboretum and a list of questions. Which questions can be answered definitely from the passages alone, without assuming anything? Answer with a JSON array of the question labels.",
    input: {
      passages: [
        {
          id: "a1",
          text: "The arboretum opens at 9:00. In winter (November to February) it shuts at 16:30, otherwise at 19:00.",
        },
        { id: "a2", text: "Dogs are welcome on a lead, except in the fern valley." },
        {
          id: "a3",
          text: "A day ticket costs 8 dollars, a family ticket 20 dollars. Holders of a family ticket get a map.",
        },
        {
          id: "a4",
          text: "The oldest tree, a yew, was planted before the house was built. The house was finished in 1794.",
        },
        {
          id: "a5",
          text: "The glasshouse can be visited from Tuesday to Sunday. It opens an hour after the arboretum.",
        },
        {
          id: "a6",
          text: "Guided walks start at the east gate on the first Sunday of each month; the price is shown there.",
        },
      ],
      questions: [
        { label: "Q1", text: "At what time does the arboretum shut on 14 May?" },
        { label: "Q2", text: "In which year was the yew planted?" },
        { label: "Q3", text: "May a dog on a lead walk through the fern valley?" },
        { label: "Q4", text: "What does a guided walk cost?" },
        { label: "Q5", text: "At what time does the glasshouse open on a Wednesday?" },
        { label: "Q6", text: "At what time does the glasshouse shut in July?" },
        { label: "Q7", text: "Was the yew already planted in 1800?" },
        { label: "Q8", text: "How many people may enter with one family ticket?" },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["Q1", "Q3", "Q5", "Q7"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    wrong_answers: [
      ["Q1", "Q3", "Q5"],
      ["Q1", "Q3", "Q5", "Q6", "Q7"],
      ["Q1", "Q2", "Q3", "Q5"],
    ],
  },
  {
    slug: "sesame-on-the-menu",
    title: "Dishes to warn about",
    domain: "retrieval",
    prompt:
      "A guest of the canteen must avoid sesame and asks on 9 October 2026. Going by the notes in the input, which dishes contain sesame on that day? A note holds from its date until a later note about the same dish or the same ingredient says otherwise. Answer with a JSON array of dish names in lower case.",
    input: {
      notes: [
        { date: "2026-08-03", text: "Falafel plate: chickpea balls, tahini dip, flat bread." },
        { date: "2026-08-03", text: "Noodle salad: noodles, cucumber, house dressing." },
        { date: "2026-08-03", text: "Lentil pot: lentils, carrots, crispy topping." },
        { date: "2026-08-03", text: "Burger: beef patty, lettuce, brioche bun with seeds." },
        { date: "2026-08-03", text: "Fruit bowl: apple, melon, yoghurt." },
        {
          date: "2026-08-10",
          text: "Ingredients: tahini is made of sesame. House dressing: sesame oil, vinegar, soy sauce.",
        },
        {
          date: "2026-08-10",
          text: "Ingredients: crispy topping is fried onion. The seeds on the brioche bun are sesame.",
        },
        { date: "2026-09-14", text: "Burger: now served in a plain potato bun." },
        { date: "2026-09-21", text: "Ingredients: house dressing: rapeseed oil, vinegar, mustard." },
        { date: "2026-09-28", text: "Ingredients: crispy topping is fried onion with sesame." },
        { date: "2026-10-05", text: "Falafel plate: chickpea balls, yoghurt dip, flat bread." },
        { date: "2026-10-08", text: "Falafel plate: the change of Monday was a mistake, the dip is the old one." },
        { date: "2026-10-12", text: "Fruit bowl: apple, melon, yoghurt, sesame brittle." },
      ],
    },
    output_format: "json",
    grader: { type: "set_f1" },
    expected_output: ["falafel plate", "lentil pot"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    wrong_answers: [
      ["lentil pot"],
      ["falafel plate", "lentil pot", "noodle salad"],
      ["falafel plate", "lentil pot", "fruit bowl"],
    ],
  },
];
