import type { SeedTask } from "../types.ts";

/** Orders, deliveries and payments whose papers correct one another. */
export const orders: SeedTask[] = [
  {
    slug: "outstanding-glassware",
    title: "What is still to be delivered",
    domain: "data_extraction",
    prompt:
      "The input holds the papers of one order, oldest first. Work out how many pieces of each ordered article the customer is still to receive. Pieces that were sent back for replacement are to be delivered again; pieces that were sent back for credit are not. A line that a later paper cancels counts as never written. Answer with a JSON object that has one key per article number of the original order and the number of pieces still to come as its value (0 where nothing is outstanding).",
    input: {
      papers: [
        "ORDER 7731 - Halden Inn to Perle Glassworks\nG-10 beaker 120 pcs\nG-14 carafe 30 pcs\nG-21 bowl 45 pcs\nG-30 saucer 60 pcs",
        "DELIVERY NOTE 1 for 7731\nG-10 beaker 72 pcs\nG-14 carafe 30 pcs\nG-30 saucer 48 pcs",
        "RETURN SLIP A for 7731\nG-10 beaker 6 pcs - chipped, please replace\nG-14 carafe 4 pcs - too many after all, please credit\nG-30 saucer 8 pcs - wrong pattern, please replace",
        "DELIVERY NOTE 2 for 7731\nG-10 beaker 48 pcs\nG-21 bowl 25 pcs\nG-12 beaker small 10 pcs (free sample)",
        "CORRECTION by Perle Glassworks: on delivery note 2 the line G-10 is cancelled; those 48 pieces went to another customer by mistake. What reached you with note 2 instead:\nG-10 beaker 24 pcs",
        "CHANGE TO ORDER 7731 by Halden Inn: G-21 bowl now 40 pcs in all instead of 45. The rest stands.",
      ],
    },
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { "G-10": 30, "G-14": 0, "G-21": 15, "G-30": 20 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    wrong_answers: [
      { "G-10": 24, "G-14": 0, "G-21": 15, "G-30": 20 },
      { "G-10": 30, "G-14": 4, "G-21": 15, "G-30": 20 },
      { "G-10": 6, "G-14": 0, "G-21": 20, "G-30": 20 },
    ],
  },
  {
    slug: "festival-catering-mails",
    title: "The final order in a mail thread",
    domain: "data_extraction",
    prompt:
      "Read the mail thread in the input. Only Ottilie Sandoval may place or change the order; everybody else may only ask or suggest, and a suggestion counts only once she has agreed to it. What is ordered in the end? Answer with a JSON object with the keys soup, bread, stew, salad (numbers of portions), delivery_time (HH:MM, 24-hour) and gate (a string, the letter alone).",
    input: {
      mails: [
        {
          sent: "Mon 08:55",
          from: "Ottilie Sandoval",
          text: "Dear kitchen, for Saturday we need soup 180, bread 220, stew 140, salad 90 portions. Deliver at 17:30, gate C.",
        },
        {
          sent: "Mon 16:10",
          from: "Kitchen",
          text: "Noted. With 180 soups people usually take 240 bread. Shall we do that? Also we could come at 17:00 already.",
        },
        {
          sent: "Tue 09:20",
          from: "Bogdan Reyl (stage)",
          text: "Hi kitchen, the crew grew: please make it stew 160. And gate C is blocked by the truck, take gate D.",
        },
        {
          sent: "Tue 11:45",
          from: "Ottilie Sandoval",
          text: "Yes to the bread. About the time: not so early, a quarter of an hour before what I first wrote is enough. I saw Bogdan's note; the crew eats elsewhere, so no change there. Salad down by a third, please.",
        },
        {
          sent: "Wed 18:02",
          from: "Bogdan Reyl (stage)",
          text: "> Salad down by a third, please.\nCould we keep the 90? Vegetarians!",
        },
        {
          sent: "Thu 07:30",
          from: "Ottilie Sandoval",
          text: "Let us meet in the middle between what I ordered on Monday and what I made of it on Tuesday. He is right about the gate, by the way. All else as agreed.",
        },
        { sent: "Thu 09:00", from: "Kitchen", text: "Fine. We would suggest soup 200, it is going to be cold." },
      ],
    },
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { soup: 180, bread: 240, stew: 140, salad: 75, delivery_time: "17:15", gate: "D" },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      { soup: 200, bread: 240, stew: 140, salad: 75, delivery_time: "17:15", gate: "D" },
      { soup: 180, bread: 240, stew: 160, salad: 90, delivery_time: "17:00", gate: "D" },
      { soup: 180, bread: 240, stew: 140, salad: 60, delivery_time: "17:15", gate: "C" },
    ],
  },
  {
    slug: "boat-yard-statement",
    title: "Spending at one supplier",
    domain: "data_extraction",
    prompt:
      "The input is the account statement of a boat yard. How much was spent at the supplier Tarn & Moss Timber in the end, in dollars? The supplier appears under several spellings, all beginning with TARN MOSS or T&M TIMBER (T&M TYRES is another firm). A negative amount is a payment, a positive one money coming back. REV lines undo the line with the given reference in full. Lines marked PENDING are not booked and do not count. Answer with the amount alone, two decimals, without a sign.",
    input: {
      statement:
        "REF   DATE   TEXT                          AMOUNT\n0411  04-02  TARN MOSS TIMBER LTD        -1,284.50\n0412  04-02  HARBOUR DUES                  -310.00\n0415  04-05  T&M TYRES AND MORE            -198.00\n0419  04-09  TARN MOSS TIMBER LTD          -452.75\n0420  04-09  TARN MOSS TIMBER LTD          -452.75\n0423  04-11  REV 0420 DUPLICATE            +452.75\n0427  04-14  T&M TIMBER WEB SHOP            -89.90\n0431  04-18  TARN MOSS TIMB RETURN GOODS   +120.25\n0433  04-20  T&M TYRES AND MORE            -401.20\n0436  04-21  REV 0433 CLAIM                +401.20\n0438  04-23  TARN MOSS TIMBER LTD        -2,016.00\n0440  04-25  TARN MOSS TIMBER LTD PENDING  -640.00\n0441  04-26  REV 0427 NOT DELIVERED         +89.90\n0444  04-28  T&M TIMBER WEB SHOP            -74.10",
    },
    output_format: "text",
    grader: { type: "numeric", tolerance: 0.001 },
    expected_output: "3707.10",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: ["3797.00", "4347.10", "3827.35", "4159.85"],
  },
  {
    slug: "kiln-data-sheet-errata",
    title: "Data of a kiln after its errata",
    domain: "data_extraction",
    prompt:
      "The input holds a data sheet and the errata published for it, in order of publication. An erratum may correct the sheet or an earlier erratum, or withdraw one; what is withdrawn has no effect. Give the data that are valid for the model K45 after all of it, as a JSON object with the keys chamber_litres, max_celsius, power_kw, weight_kg (numbers) and fuse (string, as printed).",
    input: {
      sheet:
        "Model   Chamber   Max. temp.   Power    Weight   Fuse\nK30     30 l      1,280 C      3.0 kW   48 kg    16 A\nK45     45 l      1,300 C      3.6 kW   62 kg    16 A\nK45S    45 l      1,320 C      5.2 kW   66 kg    25 A\nK60     60 l      1,300 C      6.0 kW   85 kg    3 x 16 A",
      errata: [
        "E1. All models: weights are given without the stand; with the stand, which is always supplied, add 9 kg. Give weights with the stand from now on.",
        "E2. K45: the maximum temperature is 1,250 C.",
        "E3. K45S: power is 5.5 kW. K45: power is 3.8 kW.",
        "E4. E2 was meant for the K30 and is withdrawn for the K45; for the K30 it stands.",
        "E5. The stand weighs 7 kg, not 9 kg.",
        "E6. K45 and K45S: the fuse is 20 A.",
        "E7. E6 is withdrawn as far as the K45S is concerned. The chamber of all models named with 45 holds 43 l.",
        "E8. E3 is withdrawn altogether.",
      ],
    },
    output_format: "json",
    grader: { type: "json_fields" },
    expected_output: { chamber_litres: 43, max_celsius: 1300, power_kw: 3.6, weight_kg: 69, fuse: "20 A" },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      { chamber_litres: 43, max_celsius: 1300, power_kw: 3.8, weight_kg: 69, fuse: "20 A" },
      { chamber_litres: 43, max_celsius: 1250, power_kw: 3.6, weight_kg: 71, fuse: "20 A" },
      { chamber_litres: 45, max_celsius: 1300, power_kw: 3.6, weight_kg: 78, fuse: "16 A" },
    ],
  },
];
