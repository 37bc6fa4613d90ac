import { zip } from "../../lists.ts";
import { lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const METHODS = ["merge", "unite", "join", "fuse", "combine", "flatten"] as const;
const GIVEN = ["spans", "ranges", "slots", "pieces", "blocks", "stretches"] as const;
const RESULTS = ["out", "merged", "result", "joined", "found", "union"] as const;
const ITEMS = ["s", "r", "next", "cur", "one", "item"] as const;
const FAULTY = ["sort", "test", "end", "add"] as const;

/** Trap: each wrong line looks like the right one, and a right one looks doubtful. */
export const javaMergeLine = defineTemplate(
  { id: "coding-java-merge-line", version: 1, sample: "core-coding-java-merge-line" },
  (random) => {
    const [method, given, out, s] = [METHODS, GIVEN, RESULTS, ITEMS].map((names) => random.pick<string>(names));
    const end = `${out}.get(last)[1]`;
    const [right, wrong] = [
      {
        sort: random.pick(["(a, b) -> a[0] - b[0]", "Comparator.comparingInt(a -> a[0])"]),
        test: random.pick([`last >= 0 && ${s}[0] <= ${end}`, `last >= 0 && ${end} >= ${s}[0]`]),
        end: random.pick([`Math.max(${end}, ${s}[1])`, `Math.max(${s}[1], ${end})`]),
        add: `${s}[0], ${s}[1]`,
      },
      {
        sort: random.pick(["(a, b) -> a[1] - b[1]", "(a, b) -> b[0] - a[0]", "Comparator.comparingInt(a -> a[1])"]),
        test: random.pick([
          `last >= 0 && ${s}[0] < ${end}`,
          `last > 0 && ${s}[0] <= ${end}`,
          `last >= 0 && ${s}[1] <= ${end}`,
          `last >= 0 && ${s}[0] <= ${out}.get(last)[0]`,
        ]),
        end: random.pick([`${s}[1]`, `Math.max(${out}.get(last)[0], ${s}[1])`, `Math.max(${end}, ${s}[0])`]),
        add: random.pick([`${s}[0], ${s}[0]`, `${s}[1], ${s}[1]`]),
      },
    ];
    const fault = random.pick(FAULTY);
    const code = { ...right, [fault]: wrong[fault] };
    const first = random.int(11, 970);
    const guard = random.pick([[], [`    if (${given}.isEmpty()) return new ArrayList<>();`]]);
    const body = [
      `static List<int[]> ${method}(List<int[]> ${given}) {`,
      ...guard,
      `    ${given}.sort(${code.sort});`,
      `    List<int[]> ${out} = new ArrayList<>();`,
      `    for (int[] ${s} : ${given}) {`,
      `        int last = ${out}.size() - 1;`,
      `        if (${code.test}) {`,
      `            ${end} = ${code.end};`,
      "        } else {",
      `            ${out}.add(new int[] {${code.add}});`,
      "        }",
      "    }",
      `    return ${out};`,
      "}",
    ];
    const at = first + guard.length;
    const places = { sort: at + 1, last: at + 4, test: at + 5, end: at + 6, add: at + 8 };
    const choices = Object.values(places).map((line) => `line ${line}`);
    const key = `line ${places[fault]}`;
    const lettered = zip(["A", "B", "C", "D", "E"], choices);
    return {
      prompt: lines(
        "This Java method shall merge closed intervals that overlap or touch (all bounds are whole numbers from 0 to 1000, start ≤ end) and give the merged ones in ascending order. Exactly one line is wrong; changing that line alone makes the method correct.",
        "",
        ...body.map((text, i) => `${String(first + i).padStart(3)}  ${text}`),
        "",
        "Which line is it?",
        ...lettered.map(([letter, choice]) => `${letter}) ${choice}`),
        "",
        "Answer with the letter alone.",
      ),
      output_format: "text",
      grader: { type: "multiple_choice", choices },
      expected_output: key,
      wrong_answers: lettered.filter(([, choice]) => choice !== key).flat(),
    };
  },
);
