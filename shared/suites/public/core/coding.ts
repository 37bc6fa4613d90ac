import type { SeedTask } from "../types.ts";

/** Core tasks of the domain `coding`: a Python trace, a faulty Java line, a SQL result, a schedule expression. */
export const coding: SeedTask[] = [
  {
    slug: "core-coding-python-collect",
    title: "What the Python program prints",
    domain: "coding",
    prompt:
      'What does this Python 3 program print? Answer with the printed line alone.\n\ndef collect(word, bag=[]):\n    if word not in bag:\n        bag.append(word)\n    return bag\n\nfirst = collect("oak")\nsecond = collect("elm", ["bay", "elm"])\nthird = collect("ash")\nsecond += third\nthird = third + ["fir"]\ncollect("oak").append("yew")\nprint(len(second), len(third), "-".join(collect("elm")))',
    output_format: "text",
    grader: { type: "exact" },
    expected_output: "4 3 oak-ash-yew-elm",
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 4_000,
    wrong_answers: ["3 2 elm", "4 3 oak-ash-fir-yew-elm", "5 3 oak-ash-yew-elm", "4 3 oak-ash-oak-yew-elm"],
  },
  {
    slug: "core-coding-java-merge-line",
    title: "Which line of the Java method is wrong",
    domain: "coding",
    prompt:
      "This Java method shall merge closed intervals that overlap or touch (all bounds are whole numbers from 0 to 1000, start ≤ end) and give the merged ones in ascending order. Exactly one line is wrong; changing that line alone makes the method correct.\n\n 1  static List<int[]> merge(List<int[]> spans) {\n 2      spans.sort((a, b) -> a[0] - b[0]);\n 3      List<int[]> out = new ArrayList<>();\n 4      for (int[] s : spans) {\n 5          int last = out.size() - 1;\n 6          if (last >= 0 && s[0] <= out.get(last)[1]) {\n 7              out.get(last)[1] = s[1];\n 8          } else {\n 9              out.add(new int[] {s[0], s[1]});\n10          }\n11      }\n12      return out;\n13  }\n\nWhich line is it?\nA) line 2\nB) line 5\nC) line 6\nD) line 7\nE) line 9\n\nAnswer with the letter alone.",
    output_format: "text",
    grader: { type: "multiple_choice", choices: ["line 2", "line 5", "line 6", "line 7", "line 9"] },
    expected_output: "line 7",
    time_limit_ms: 45_000,
    reference_cost_usd: 0.002,
    reference_latency_ms: 4_000,
    wrong_answers: ["C", "A", "line 9"],
  },
  {
    slug: "core-coding-sql-paid-trips",
    title: "The rows of a SQL query",
    domain: "coding",
    prompt:
      "The tables `boats` and `trips` hold the rows in `input` (null is SQL NULL). Which rows does this query give, by standard SQL?\n\nSELECT b.name, COUNT(t.fee) AS paid\nFROM boats b\nLEFT JOIN trips t ON t.boat_id = b.id AND t.status = 'done'\nWHERE b.home <> 'Skarn'\nGROUP BY b.id, b.name\nORDER BY paid DESC, b.name;\n\nAnswer with JSON: {\"rows\": [[name, paid], …]}, the rows in the order of the query.",
    input: {
      boats: [
        { id: 1, name: "Tern", home: "Vik" },
        { id: 2, name: "Plover", home: "Skarn" },
        { id: 3, name: "Dunlin", home: null },
        { id: 4, name: "Knot", home: "Vik" },
        { id: 5, name: "Eider", home: "Oss" },
      ],
      trips: [
        { id: 11, boat_id: 1, status: "done", fee: 40 },
        { id: 12, boat_id: 1, status: "done", fee: null },
        { id: 13, boat_id: 1, status: "done", fee: 55 },
        { id: 14, boat_id: 1, status: "cancelled", fee: 55 },
        { id: 15, boat_id: 2, status: "done", fee: 35 },
        { id: 16, boat_id: 3, status: "done", fee: 30 },
        { id: 17, boat_id: 4, status: "cancelled", fee: 25 },
        { id: 18, boat_id: 5, status: "done", fee: 0 },
      ],
    },
    output_format: "json",
    output_schema: {
      type: "object",
      properties: {
        rows: {
          type: "array",
          items: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2, maxItems: 2 },
        },
      },
      required: ["rows"],
    },
    grader: { type: "json_fields" },
    expected_output: {
      rows: [
        ["Tern", 2],
        ["Eider", 1],
        ["Knot", 0],
      ],
    },
    time_limit_ms: 60_000,
    reference_cost_usd: 0.003,
    reference_latency_ms: 5_000,
    wrong_answers: [
      {
        rows: [
          ["Tern", 3],
          ["Eider", 1],
          ["Knot", 1],
        ],
      },
      {
        rows: [
          ["Tern", 2],
          ["Dunlin", 1],
          ["Eider", 1],
          ["Knot", 0],
        ],
      },
      {
        rows: [
          ["Tern", 2],
          ["Eider", 1],
        ],
      },
    ],
  },
  {
    slug: "core-coding-cron-fields",
    title: "A schedule as five cron fields",
    domain: "coding",
    prompt:
      "A crontab schedule has five fields parted by single spaces: minute, hour, day of the month, month, day of the week (0 is Sunday, 6 is Saturday). A field is * (not restricted), a number, a range a-b, a list a,b,c in ascending order, or a stepped range a-b/n. Write the schedule that fires at 06:30, 10:30, 14:30 and 18:30 on every Monday to Friday, and at no other time. Use digits, not names, and * for a field that is not restricted. Answer with the five fields alone, on one line.",
    output_format: "text",
    grader: {
      type: "regex",
      pattern: "^\\s*`?30 (?:0?6,10,14,18|0?6-(?:18|19|20|21)/4) \\* \\* (?:1-5|1,2,3,4,5|1-5/1)`?\\s*$",
    },
    expected_output: null,
    time_limit_ms: 30_000,
    reference_cost_usd: 0.0008,
    reference_latency_ms: 2_000,
    wrong_answers: [
      "30 */4 * * 1-5",
      "30 6-18 * * 1-5",
      "6,10,14,18 30 * * 1-5",
      "30 6-22/4 * * 1-5",
      "30 6-18/4 * * 0-4",
    ],
  },
];
