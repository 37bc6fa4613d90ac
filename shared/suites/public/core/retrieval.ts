import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `retrieval`: a tariff in force, evidence for a claim, a chain of facts, gaps of a corpus. */
export const retrieval: SeedTask[] = [
  {
    slug: "core-retrieval-cableway-refund",
    title: "A refund by the rules in force",
    domain: "retrieval",
    prompt:
      'Answer from the passages in `input` alone. A passenger bought a ten-ride card of the Tarn Valley Cableway for 72 EUR on 12 May 2031, used 3 rides, and asked for a refund at the valley station on 2 June 2031. How much is refunded? Answer with JSON: {"refund_eur": number, "sources": [ids]}, where `sources` names exactly the two passages that the amount follows from: the rule for the refund and the rule for the fee.',
    input: {
      passages: [
        {
          id: "P1",
          text: "Ten-ride cards, tariff valid from 1 January 2029: unused rides are refunded at the price of the card divided by ten for each unused ride.",
        },
        {
          id: "P2",
          text: "Ten-ride cards, tariff valid from 1 April 2031, replaces all earlier ones: on a refund, the rides already used are charged at the single fare of 9 EUR each and taken off the price of the card; the rest is refunded.",
        },
        {
          id: "P3",
          text: "Ten-ride cards, tariff valid for cards bought from 1 June 2031: a card of which more than two rides are used is not refunded.",
        },
        {
          id: "P4",
          text: "Season passes, tariff valid from 1 April 2031: each month begun counts as used; the rest of the price is refunded.",
        },
        {
          id: "P5",
          text: "Handling of refunds, valid from 1 January 2030: a fee of 4 EUR is kept for refunds at a station, none for refunds by post.",
        },
        {
          id: "P6",
          text: "Handling of refunds, valid for all refunds asked for from 15 May 2031, replaces the rule of 2030: a fee of 5 EUR is kept for refunds at a station, 2 EUR for refunds by post.",
        },
        {
          id: "P7",
          text: "Draft for discussion, not in force: the station fee for refunds might be lowered to 3 EUR in summer 2031.",
        },
        {
          id: "P8",
          text: "Luggage: skis and sledges travel free on ten-ride cards; bicycles cost 3 EUR for each ride.",
        },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: { refund_eur: { type: "number" }, sources: { type: "array", items: { type: "string" } } },
      required: ["refund_eur", "sources"],
    },
    grader: { type: "json_fields", unordered: ["sources"] },
    expected_output: { refund_eur: 40, sources: ["P2", "P6"] },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    wrong_answers: [
      { refund_eur: 45.4, sources: ["P1", "P6"] },
      { refund_eur: 41, sources: ["P2", "P5"] },
      { refund_eur: 0, sources: ["P3", "P6"] },
      { refund_eur: 40, sources: ["P2", "P5", "P6"] },
    ],
  },
  {
    slug: "core-retrieval-sealant-notes",
    title: "Notes that bear out a claim",
    domain: "retrieval",
    prompt:
      "A claim about the sealant “Velum”: “Applied in one layer at 20 °C, it took more than 10 hours to cure whenever the air was at 70 % humidity or above.” Which of the laboratory notes in `input` are valid observations that bear this claim out? A note counts only if it is about Velum, in one layer, at 20 °C and at 70 % humidity or above, if the cure took more than 10 hours, and if no other note withdraws or corrects it so that this no longer holds; a note that is corrected counts with its corrected value. Notes that merely withdraw or correct do not count themselves. Answer with the ids of the notes as a JSON array of strings.",
    input: {
      notes: [
        { id: "N1", text: "Velum, one layer, 20 °C, humidity 72 %: cured after 11 h 20 min." },
        { id: "N2", text: "Velum, one layer, 20 °C, humidity 68 %: cured after 10 h 30 min." },
        { id: "N3", text: "Velum, two layers, 20 °C, humidity 80 %: cured after 19 h 05 min." },
        { id: "N4", text: "Velum, one layer, 20 °C, humidity 85 %: cured after 13 h 10 min." },
        { id: "N5", text: "Velum Plus, one layer, 20 °C, humidity 75 %: cured after 12 h 40 min." },
        { id: "N6", text: "Velum, one layer, 20 °C, humidity 70 %: cured after 610 min." },
        { id: "N7", text: "Velum, one layer, 12 °C, humidity 74 %: cured after 15 h 00 min." },
        { id: "N8", text: "Correction of N9: the humidity was 71 %, not 61 %." },
        { id: "N9", text: "Velum, one layer, 20 °C, humidity 61 %: cured after 10 h 45 min." },
        { id: "N10", text: "Withdrawn: N4. The door of the chamber stood open." },
        { id: "N11", text: "Velum, one layer, 20 °C, humidity 90 %: cured after 595 min." },
        { id: "N12", text: "Correction of N1: the humidity was 73 %, not 72 %." },
      ],
    },
    output_format: "json",
    output_schema: { type: "array", items: { type: "string" } },
    grader: { type: "set_f1" },
    expected_output: ["N1", "N6", "N9"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      ["N1", "N4", "N6"],
      ["N1", "N6"],
      ["N1", "N6", "N8", "N9"],
      ["N1", "N6", "N9", "N11"],
      ["N1", "N5", "N6", "N9"],
    ],
  },
  {
    slug: "core-retrieval-survey-key",
    title: "Who has the key now",
    domain: "retrieval",
    prompt:
      "Answer from the passages in `input` alone. In which person's keeping is, at the end of 2031, the key to the cabinet in which the survey sheets of 1974 then lie? Answer with the name of the person alone.",
    input: {
      passages: [
        { id: "a", dated: "2019-03-02", text: "The survey sheets of 1974 lie in cabinet Elm." },
        { id: "b", dated: "2024-10-18", text: "The survey sheets of 1947 were moved to cabinet Yew." },
        { id: "c", dated: "2026-05-30", text: "The survey sheets of 1974 were moved to cabinet Ash." },
        { id: "d", dated: "2027-01-12", text: "Cabinet Ash was renamed; it is now called cabinet Hazel." },
        { id: "e", dated: "2027-02-01", text: "A new cabinet was bought and was given the free name Ash." },
        { id: "f", dated: "2027-02-03", text: "The key to cabinet Ash was given to Petra Holm." },
        { id: "g", dated: "2028-06-21", text: "The key to cabinet Hazel was given to Anselm Roe." },
        { id: "h", dated: "2030-09-09", text: "Anselm Roe retired; all keys he kept were given to Bettina Carl." },
        { id: "i", dated: "2031-04-15", text: "The key to cabinet Elm was given to Jory Vance." },
        { id: "j", dated: "2031-08-27", text: "The key to cabinet Yew was given to Tilda Moss." },
      ],
    },
    output_format: "text",
    grader: { type: "normalized_text" },
    expected_output: ["Bettina Carl"],
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 4_000,
    wrong_answers: ["Petra Holm", "Anselm Roe", "Jory Vance", "Tilda Moss"],
  },
  {
    slug: "core-retrieval-hut-questions",
    title: "Four questions to a small corpus",
    domain: "retrieval",
    prompt:
      'Answer the four questions from the passages in `input` alone. Where the passages do not give the answer, the value is null; do not infer from a similar place or person.\n- q1: How many beds has Skarv Hut?\n- q2: In which year was the roof of Skarv Hut last renewed?\n- q3: How many litres does the water tank of Skarv Hut hold?\n- q4: What is the surname of the present warden of Lomm Hut?\nAnswer with JSON: {"q1": integer or null, "q2": integer or null, "q3": integer or null, "q4": string or null}.',
    input: {
      passages: [
        { id: "1", text: "Skarv Hut has two rooms with 8 beds each and a loft with 5 more." },
        { id: "2", text: "The roof of Lomm Hut was renewed in 2028, that of Teist Hut a year later." },
        { id: "3", text: "The water tank of Lomm Hut holds 900 litres and was cleaned in 2030." },
        {
          id: "4",
          text: "Skarv Hut was given its roof in 1998; eleven years after that it was renewed, and again in 2027 after the storm.",
        },
        { id: "5", text: "Until 2029 Lomm Hut was looked after by Greta Falk. Her successor, Ove Lind, left in 2030." },
        { id: "6", text: "At Skarv Hut water is taken from a tank; guests are asked to use it sparingly." },
        { id: "7", text: "The post of warden at Lomm Hut went to Ines Brandt in January 2031; she holds it now." },
        { id: "8", text: "The loft of Skarv Hut was closed to guests in 2024, and its beds were taken out for good." },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        q1: { type: ["integer", "null"] },
        q2: { type: ["integer", "null"] },
        q3: { type: ["integer", "null"] },
        q4: { type: ["string", "null"] },
      },
      required: ["q1", "q2", "q3", "q4"],
    },
    grader: { type: "json_fields" },
    expected_output: { q1: 16, q2: 2027, q3: null, q4: "Brandt" },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 4_000,
    wrong_answers: [
      { q1: 21, q2: 2027, q3: null, q4: "Brandt" },
      { q1: 16, q2: 2027, q3: 900, q4: "Brandt" },
      { q1: 16, q2: 2009, q3: null, q4: "Lind" },
      { q1: 16, q2: 2028, q3: null, q4: "Brandt" },
    ],
  },
];
