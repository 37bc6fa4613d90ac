import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `data_extraction`: a corrected invoice, a log, a mail thread, a radio transcript. */
export const dataExtraction: SeedTask[] = [
  {
    slug: "core-extraction-corrected-invoice",
    title: "An invoice with corrections by hand",
    domain: "data_extraction",
    prompt:
      'The document in `input` is the scan of an invoice with handwritten notes. Initialled notes are valid and change what is billed; notes that are crossed out are not valid. Work out what is now due. Answer with JSON: {"invoice_number": string, "subtotal": number, "tax": number, "total": number, "due_date": "YYYY-MM-DD"}. The subtotal is without tax.',
    input: {
      document:
        "KESTREL & MOYE JOINERY\nInvoice KM-2207-B   (replaces KM-2207, which is void)\nDate of issue: 2031-02-11     Terms: 21 days from the date of issue\nYour order: 5518\n\n1  Oak shelf, 90 cm        6 pc  x  48.00     288.00\n2  Brass bracket, pair    12 pr  x   7.25      87.00\n3  Fitting                 5 h   x  52.00     260.00\n4  Delivery               1 pc  x  35.00      35.00\n                              Subtotal       670.00\nTax is 20 % on every line but delivery, which is free of tax.\n\nNotes by hand:\n[initialled R.M.] line 2: only 10 delivered, bill 10\n[initialled R.M.] line 3: first hour was promised free, bill 4\n[crossed out] line 4: no charge, bill 0\n[initialled R.M.] line 1: counted again, bill 6 is right\n[crossed out] terms 30 days",
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        invoice_number: { type: "string" },
        subtotal: { type: "number" },
        tax: { type: "number" },
        total: { type: "number" },
        due_date: { type: "string" },
      },
      required: ["invoice_number", "subtotal", "tax", "total", "due_date"],
    },
    grader: { type: "json_fields" },
    expected_output: {
      invoice_number: "KM-2207-B",
      subtotal: 603.5,
      tax: 113.7,
      total: 717.2,
      due_date: "2031-03-04",
    },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      { invoice_number: "KM-2207-B", subtotal: 670, tax: 127, total: 797, due_date: "2031-03-04" },
      { invoice_number: "KM-2207-B", subtotal: 603.5, tax: 120.7, total: 724.2, due_date: "2031-03-04" },
      { invoice_number: "KM-2207-B", subtotal: 603.5, tax: 113.7, total: 717.2, due_date: "2031-03-13" },
    ],
  },
  {
    slug: "core-extraction-gateway-log",
    title: "Requests that failed in the end",
    domain: "data_extraction",
    prompt:
      "The log in `input` comes from two gateways whose clocks are set to different UTC offsets; the offset stands in each time stamp, and the lines are not in the order of time. A request may be tried several times. It failed in the end if its last attempt, by true time, has the result `error` or `timeout`. Lines about anything but the result of an attempt do not count. Give the ids of all requests that failed in the end, as a JSON array of strings.",
    input: {
      log: '2031-03-09T22:58:41+00:00 gw1 req=R7 result=timeout\n2031-03-09T23:58:44+01:00 gw2 req=R3 result=ok\n2031-03-09T22:58:50+00:00 gw1 req=R5 result=ok\n2031-03-09T22:59:02+00:00 gw1 req=R3 result=error\n2031-03-09T22:59:05+00:00 gw1 req=R9 note="retry scheduled"\n2031-03-10T00:00:12+01:00 gw2 req=R7 result=ok\n2031-03-09T23:58:57+01:00 gw2 req=R9 result=error\n2031-03-09T23:00:30+00:00 gw1 req=R2 result=error\n2031-03-10T00:00:05+01:00 gw2 req=R2 result=ok\n2031-03-09T23:00:48+00:00 gw1 req=R4 result=ok\n2031-03-10T00:00:40+01:00 gw2 req=R4 result=timeout\n2031-03-09T23:01:02+00:00 gw1 req=R5 note="client reported error page"\n2031-03-10T00:01:20+01:00 gw2 req=R8 result=timeout\n2031-03-09T23:01:45+00:00 gw1 req=R8 result=ok\n2031-03-10T00:02:10+01:00 gw2 req=R8 result=timeout',
    },
    output_format: "json",
    output_schema: { type: "array", items: { type: "string" } },
    grader: { type: "set_f1" },
    expected_output: ["R2", "R3", "R8", "R9"],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      ["R3", "R4", "R8", "R9"],
      ["R4", "R8", "R9"],
      ["R2", "R3", "R4", "R8", "R9"],
      ["R2", "R3", "R5", "R8", "R9"],
      ["R2", "R3", "R8"],
    ],
  },
  {
    slug: "core-extraction-dinner-thread",
    title: "What was agreed in the end",
    domain: "data_extraction",
    prompt:
      'The mails in `input` are about one dinner and are not in the order in which they were sent. A later mail overrides an earlier one, but only in what it changes. What holds in the end? Answer with JSON: {"date": "YYYY-MM-DD", "time": "HH:MM", "room": string, "covers": integer, "vegetarian": integer}. `covers` is the number of all guests, vegetarians included; `room` is the name of the room alone.',
    input: {
      mails: [
        {
          sent: "2031-05-06T16:20",
          from: "Odile (host)",
          body: "Two colleagues fall out, please count two fewer covers. One of the two would have eaten vegetarian.",
        },
        {
          sent: "2031-05-02T09:10",
          from: "Odile (host)",
          body: "We would like the Heron room on 2031-05-22 at 19:00 for 34 covers, 6 of them vegetarian.",
        },
        {
          sent: "2031-05-07T08:05",
          from: "Marek (restaurant)",
          body: "Noted. The Heron room has no light until June, so you are now in the Orchard room; the kitchen there opens only at 19:30, so we start at 19:30.",
        },
        {
          sent: "2031-05-04T11:45",
          from: "Odile (host)",
          body: "Change of plan: the date has to move to 2031-05-23. All else as it was.",
        },
        {
          sent: "2031-05-08T13:30",
          from: "Odile (host)",
          body: "Forget my mail of 4 May, the first date is the right one after all. Three more guests join us, all vegetarian. I like the room you found.",
        },
        {
          sent: "2031-05-05T10:00",
          from: "Marek (restaurant)",
          body: "The Willow room would be free too, should you prefer it. Unless I hear so from you, all stays as booked.",
        },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        date: { type: "string" },
        time: { type: "string" },
        room: { type: "string" },
        covers: { type: "integer" },
        vegetarian: { type: "integer" },
      },
      required: ["date", "time", "room", "covers", "vegetarian"],
    },
    grader: { type: "json_fields" },
    expected_output: { date: "2031-05-22", time: "19:30", room: "Orchard", covers: 35, vegetarian: 8 },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      { date: "2031-05-23", time: "19:30", room: "Orchard", covers: 35, vegetarian: 8 },
      { date: "2031-05-22", time: "19:00", room: "Orchard", covers: 35, vegetarian: 8 },
      { date: "2031-05-22", time: "19:30", room: "Willow", covers: 35, vegetarian: 9 },
      { date: "2031-05-22", time: "19:30", room: "Orchard", covers: 37, vegetarian: 9 },
    ],
  },
  {
    slug: "core-extraction-crate-radio",
    title: "A crate code read over the radio",
    domain: "data_extraction",
    prompt:
      "Three crate codes are read out over the radio; see `input`. The port has its own spelling words: `spelling` says which character each word stands for. Speaking rules: “double” before a word means that its character comes twice; after “correction”, the words up to the next full stop replace the one character said last before it; “all after dash again” cancels everything that came after the dash, and what follows takes its place. Which code has the crate that finally goes to pier 4? Answer with the code alone, as characters without spaces.",
    input: {
      spelling: {
        cedar: "Q",
        birch: "M",
        willow: "H",
        maple: "X",
        rowan: "C",
        dash: "-",
        zero: "0",
        one: "1",
        two: "2",
        three: "3",
        four: "4",
        five: "5",
        six: "6",
        seven: "7",
        eight: "8",
        niner: "9",
      },
      transmissions: [
        { crate: "first", code: "rowan maple double five. dash. birch one one zero.", pier: 4 },
        {
          crate: "second",
          code: "cedar birch seven seven. correction two. dash. willow double four zero. all after dash again. willow four niner double zero.",
          pier: 2,
        },
        { crate: "third", code: "maple double cedar three. dash. rowan eight. correction six. one niner.", pier: 4 },
      ],
      later: [
        "The first crate goes to pier 1 instead.",
        "The third crate goes where the second was meant to go, and the second goes to pier 4.",
      ],
    },
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "QM72-H4900",
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 5_000,
    wrong_answers: ["QM772-H4900", "QM72-H440H4900", "CX55-M110", "XQQ3-C619", "QM77-H4900"],
  },
];
