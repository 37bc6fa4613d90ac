import type { SeedTask } from "../types.ts";

/** Tool calls on things outdoors: gauges, valves, guided tours, wildlife cameras. */
export const field: SeedTask[] = [
  {
    slug: "river-gauge-thresholds",
    title: "Alarm levels for river gauges",
    domain: "tool_use",
    prompt:
      "Set the alarm level of every gauge in the input that is in service. The alarm level is three quarters of the bank height above the gauge's zero; the tool wants whole millimetres, and half a millimetre and more goes up. 1 foot is 304.8 mm, 1 inch is 25.4 mm. A gauge's zero lies above the river bed by zero_mm, and bank heights are measured from the river bed. Make exactly the calls that are needed, in any order.",
    input: {
      gauges: [
        { id: "gg-upper", bank_height: "7 ft 3 in", zero_mm: 150, in_service: true },
        { id: "gg-mill", bank_height: "1.85 m", zero_mm: 0, in_service: true },
        { id: "gg-weir", bank_height: "212 cm", zero_mm: 95, in_service: false },
        { id: "gg-lower", bank_height: "98 in", zero_mm: 210, in_service: true },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "set_alarm_level",
        description: "Sets the alarm level of a gauge, in millimetres above its zero.",
        parameters: {
          type: "object",
          properties: { gauge_id: { type: "string" }, level_mm: { type: "integer", minimum: 0 } },
          required: ["gauge_id", "level_mm"],
          additionalProperties: false,
        },
      },
      {
        name: "set_zero",
        description: "Moves the zero of a gauge.",
        parameters: {
          type: "object",
          properties: { gauge_id: { type: "string" }, zero_mm: { type: "integer" } },
          required: ["gauge_id", "zero_mm"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "set_alarm_level", arguments: { gauge_id: ["gg-upper"], level_mm: [1545] } },
      { name: "set_alarm_level", arguments: { gauge_id: ["gg-mill"], level_mm: [1388] } },
      { name: "set_alarm_level", arguments: { gauge_id: ["gg-lower"], level_mm: [1709] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    expected_tool_calls: 3,
    wrong_answers: [
      [
        { name: "set_alarm_level", arguments: { gauge_id: "gg-upper", level_mm: 1657 } },
        { name: "set_alarm_level", arguments: { gauge_id: "gg-mill", level_mm: 1388 } },
        { name: "set_alarm_level", arguments: { gauge_id: "gg-lower", level_mm: 1867 } },
      ],
      [
        { name: "set_alarm_level", arguments: { gauge_id: "gg-upper", level_mm: 1545 } },
        { name: "set_alarm_level", arguments: { gauge_id: "gg-mill", level_mm: 1387 } },
        { name: "set_alarm_level", arguments: { gauge_id: "gg-weir", level_mm: 1519 } },
        { name: "set_alarm_level", arguments: { gauge_id: "gg-lower", level_mm: 1709 } },
      ],
    ],
  },
  {
    slug: "nursery-watering-round",
    title: "Watering beds before sunrise",
    domain: "tool_use",
    prompt:
      "Plan this morning's watering of the beds in the input. A bed is watered if its deficit less the rain expected is above 2 mm, and then by that difference; 1 mm on 1 square metre is 1 litre. A valve runs for whole minutes, rounded up. Only one valve may be open at a time: the first opens at 04:50, each next one 3 minutes after the one before has shut; the bed with the largest difference comes first. Make one call for each bed, in the order of their starts.",
    input: {
      rain_expected_mm: 1.5,
      beds: [
        { valve: "V1", area_m2: 60, deficit_mm: 6.5, litres_per_minute: 22 },
        { valve: "V2", area_m2: 45, deficit_mm: 3.5, litres_per_minute: 15 },
        { valve: "V3", area_m2: 80, deficit_mm: 4.0, litres_per_minute: 25 },
        { valve: "V4", area_m2: 30, deficit_mm: 9.0, litres_per_minute: 18 },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "open_valve",
        description: "Opens a valve at a time of day for a number of minutes.",
        parameters: {
          type: "object",
          properties: {
            valve: { type: "string" },
            start: { type: "string", description: "HH:MM" },
            minutes: { type: "integer", minimum: 1 },
          },
          required: ["valve", "start", "minutes"],
          additionalProperties: false,
        },
      },
      {
        name: "flush_line",
        description: "Rinses the main line.",
        parameters: {
          type: "object",
          properties: { minutes: { type: "integer", minimum: 1 } },
          required: ["minutes"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      { name: "open_valve", arguments: { valve: ["V4"], start: ["04:50"], minutes: [13] } },
      { name: "open_valve", arguments: { valve: ["V1"], start: ["05:06"], minutes: [14] } },
      { name: "open_valve", arguments: { valve: ["V3"], start: ["05:23"], minutes: [8] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    expected_tool_calls: 3,
    wrong_answers: [
      [
        { name: "open_valve", arguments: { valve: "V4", start: "04:50", minutes: 13 } },
        { name: "open_valve", arguments: { valve: "V1", start: "05:06", minutes: 14 } },
        { name: "open_valve", arguments: { valve: "V3", start: "05:23", minutes: 8 } },
        { name: "open_valve", arguments: { valve: "V2", start: "05:34", minutes: 6 } },
      ],
      [
        { name: "open_valve", arguments: { valve: "V1", start: "04:50", minutes: 14 } },
        { name: "open_valve", arguments: { valve: "V3", start: "05:07", minutes: 8 } },
        { name: "open_valve", arguments: { valve: "V4", start: "05:18", minutes: 13 } },
      ],
    ],
  },
  {
    slug: "cave-tour-search",
    title: "A search for a cave tour",
    domain: "tool_use",
    prompt:
      "Turn the request in the input into exactly one search call. Children are persons under 12; people of 65 and more count as seniors, everybody else as adults. max_price_cents is what the whole group can pay at most for the tickets after setting aside the amount that the group keeps for the bus. Leave out an optional argument about which the request says nothing.",
    input: {
      today: "Friday 2026-08-14",
      request:
        "We'd love to see the caves on Sunday in a week, so not this Sunday but the one after. We are my wife and I (both 41), the twins (11), our eldest who has just turned 12, and my mother, 66. Mum can't manage stairs. She'd prefer the tour in Portuguese but English is what the rest of us speak, so please English. Any time from noon on, as long as we are out by half past four. We have 120 dollars with us and need 17.50 for the bus home.",
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "search_tours",
        description: "Finds guided tours with free places.",
        parameters: {
          type: "object",
          properties: {
            date: { type: "string", description: "YYYY-MM-DD" },
            group: {
              type: "object",
              properties: {
                children: { type: "integer" },
                adults: { type: "integer" },
                seniors: { type: "integer" },
              },
              required: ["children", "adults", "seniors"],
              additionalProperties: false,
            },
            language: { enum: ["en", "pt", "es", "de"] },
            step_free: { type: "boolean" },
            not_before: { type: "string", description: "HH:MM" },
            end_by: { type: "string", description: "HH:MM" },
            max_price_cents: { type: "integer" },
            pets: { type: "boolean", description: "Whether an animal comes along." },
          },
          required: ["date", "group"],
          additionalProperties: false,
        },
      },
      {
        name: "book_tour",
        description: "Books places on a tour.",
        parameters: {
          type: "object",
          properties: { tour_id: { type: "string" }, places: { type: "integer", minimum: 1 } },
          required: ["tour_id", "places"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      {
        name: "search_tours",
        arguments: {
          date: ["2026-08-23"],
          group: [{ children: 2, adults: 3, seniors: 1 }],
          language: ["en"],
          step_free: [true],
          not_before: ["12:00"],
          end_by: ["16:30"],
          max_price_cents: [10_250],
        },
      },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 4_000,
    expected_tool_calls: 1,
    wrong_answers: [
      [
        {
          name: "search_tours",
          arguments: {
            date: "2026-08-16",
            group: { children: 3, adults: 2, seniors: 1 },
            language: "en",
            step_free: true,
            not_before: "12:00",
            end_by: "16:30",
            max_price_cents: 10_250,
          },
        },
      ],
      [
        {
          name: "search_tours",
          arguments: {
            date: "2026-08-23",
            group: { children: 2, adults: 3, seniors: 1 },
            language: "en",
            step_free: true,
            not_before: "12:00",
            end_by: "16:30",
            max_price_cents: 12_000,
            pets: false,
          },
        },
      ],
    ],
  },
];
