import { drawUntil } from "../../templates/random.ts";
import { lines, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";
import { PLACES } from "../../templates/words.ts";

const javascriptTrace = defineTemplate(
  {
    id: "javascript-trace",
    title: "What a loop prints",
    domain: "coding",
    output_format: "text",
    reference_cost_usd: 0.006,
    reference_latency_ms: 9000,
  },
  (random) =>
    drawUntil(() => {
      const start = Array.from({ length: 6 }, () => random.int(3, 120));
      const ahead = random.int(1, 4);
      const modulus = random.int(3, 5);
      const remainder = random.int(0, modulus - 1);
      const values = [...start];
      const kept: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const at = i % 6;
        const here = values[at] ?? 0;
        const next = values[(at + ahead) % 6] ?? 0;
        if (here % modulus === remainder) kept.push(here);
        else values[at] = here > next ? here - next : here + i;
      }
      const printed = kept.map(String).toSorted();
      const numeric = kept.toSorted((a, b) => a - b).map(String);
      if (kept.length < 3 || kept.length > 5 || printed.join() === numeric.join()) return undefined;
      const total = values.reduce((sum, value) => sum + value, 0);
      return {
        prompt: lines(
          "What does this JavaScript program print? Answer with the printed line and nothing else.",
          "",
          `const values = [${start.join(", ")}];`,
          "const kept = [];",
          "for (let i = 0; i < 10; i += 1) {",
          "  const at = i % values.length;",
          `  const next = values[(at + ${ahead}) % values.length];`,
          `  if (values[at] % ${modulus} === ${remainder}) kept.push(values[at]);`,
          "  else if (values[at] > next) values[at] -= next;",
          "  else values[at] += i;",
          "}",
          'console.log(kept.sort().join(" ") + " / " + values.reduce((sum, value) => sum + value, 0));',
        ),
        grader: { type: "exact" },
        expected_output: `${printed.join(" ")} / ${total}`,
      };
    }),
);

const pythonTrace = defineTemplate(
  {
    id: "python-trace",
    title: "What calls print",
    domain: "coding",
    output_format: "text",
    reference_cost_usd: 0.006,
    reference_latency_ms: 9000,
  },
  (random) =>
    drawUntil(() => {
      const divisor = random.int(4, 9);
      const data = Array.from({ length: 6 }, () => random.int(-40, 40));
      const [alone, again] = [random.int(-60, -20), random.int(-30, 30)];
      const shared: number[] = [];
      const tally = (n: number, seen = shared) => {
        const quotient = Math.floor(n / divisor);
        if (!seen.includes(quotient)) seen.push(quotient);
        return n - quotient * divisor + seen.length;
      };
      const marks = data.map((n) => tally(n));
      const printed = [marks.reduce((sum, mark) => sum + mark, 0), tally(alone, []), tally(again)];
      if (data.filter((n) => n < 0 && n % divisor !== 0).length < 2 || shared.length === 7) return undefined;
      return {
        prompt: lines(
          "What does this Python 3 program print? Answer with the printed line and nothing else.",
          "",
          "def tally(n, seen=[]):",
          `    if n // ${divisor} not in seen:`,
          `        seen.append(n // ${divisor})`,
          `    return n % ${divisor} + len(seen)`,
          "",
          `data = [${data.join(", ")}]`,
          "marks = [tally(n) for n in data]",
          `print(sum(marks), tally(${alone}, []), tally(${again}), marks[::-2])`,
        ),
        grader: { type: "exact" },
        expected_output: `${printed.join(" ")} [${[marks[5], marks[3], marks[1]].join(", ")}]`,
      };
    }),
);

const sqlResult = defineTemplate(
  {
    id: "sql-result",
    title: "The rows of a query",
    domain: "coding",
    output_format: "json",
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
  },
  (random) => {
    const regions = random.sample(PLACES, 4);
    const names = random.people(8);
    return drawUntil(() => {
      const customers = names.map((name, i) => ({ id: i + 1, name, region: random.pick(regions) }));
      const orders = Array.from({ length: 12 }, (_, i) => ({
        id: 101 + i,
        customer_id: random.pick([1, 2, 3, 4, 5, 6, 7, 8, null]),
        status: random.pick(["paid", "paid", "paid", "open"]),
        amount: random.pick([null, random.int(5, 90), random.int(5, 90), random.int(5, 90)]),
      }));
      const atLeast = random.int(3, 4);
      const groups = regions.map((region) => {
        const matches = customers
          .filter((customer) => customer.region === region)
          .map(({ id }) => orders.filter((order) => order.customer_id === id && order.status === "paid"));
        const paid = matches.flat();
        return {
          region,
          joined: matches.reduce((rows, found) => rows + Math.max(1, found.length), 0),
          paid: paid.length,
          total: paid.reduce((total, { amount }) => total + (amount ?? 0), 0),
          nulls: paid.filter(({ amount }) => amount === null).length,
        };
      });
      const kept = groups.filter(({ joined }) => joined >= atLeast);
      const byTotal = kept.toSorted((a, b) => b.total - a.total || (a.region < b.region ? -1 : 1));
      // The traps are there: a null amount, and a group that is kept only for a customer without a paid order.
      if (kept.length < 2 || kept.length === 4 || kept.every(({ nulls }) => nulls === 0)) return undefined;
      if (kept.every(({ paid }) => paid >= atLeast)) return undefined;
      return {
        prompt: lines(
          "The input holds the rows of two tables (null is SQL NULL). What does this query return?",
          'Answer with a JSON object and nothing else: {"rows": [[region, paid, total], ...]} in the order of the result.',
          "",
          "SELECT c.region, COUNT(o.id) AS paid, COALESCE(SUM(o.amount), 0) AS total",
          "FROM customers c",
          "LEFT JOIN orders o ON o.customer_id = c.id AND o.status = 'paid'",
          "GROUP BY c.region",
          `HAVING COUNT(*) >= ${atLeast}`,
          "ORDER BY total DESC, c.region;",
        ),
        input: { customers, orders },
        grader: { type: "json_fields" },
        expected_output: { rows: byTotal.map(({ region, paid, total }) => [region, paid, total]) },
      };
    });
  },
);

/** What a program of the invented machine of `smallMachine` puts out, or undefined when it runs too long. */
function runMachine(program: string[]): number[] | undefined {
  const registers = new Map<string, number>();
  const value = (name = "") => registers.get(name) ?? 0;
  const output: number[] = [];
  let line = 1;
  for (let steps = 0; steps < 200; steps += 1) {
    const [operation, r = "", operand = ""] = program[line - 1]?.split(" ") ?? [];
    if (operation === undefined) return output;
    line += 1;
    if (operation === "SET") registers.set(r, Number(operand));
    if (operation === "ADD") registers.set(r, value(r) + value(operand));
    if (operation === "SUB") registers.set(r, value(r) - Number(operand));
    if (operation === "MOD") registers.set(r, value(r) % Number(operand));
    if (operation === "OUT") output.push(value(r));
    if ((operation === "JODD" && value(r) % 2 === 1) || (operation === "JPOS" && value(r) > 0)) line = Number(operand);
  }
  return undefined;
}

const smallMachine = defineTemplate(
  {
    id: "small-machine",
    title: "A machine with three registers",
    domain: "coding",
    output_format: "text",
    reference_cost_usd: 0.008,
    reference_latency_ms: 12_000,
  },
  (random) =>
    drawUntil(() => {
      const [x, y, z] = random.shuffle(["A", "B", "C"]);
      const modulus = random.int(11, 29);
      const body = random.shuffle([`ADD ${z} ${y}`, `MOD ${z} ${modulus}`, `ADD ${y} ${x}`, `OUT ${z}`, `JODD ${z} 9`]);
      const program = [
        `SET ${x} ${random.int(11, 16)}`,
        `SET ${y} ${random.int(3, 12)}`,
        `SET ${z} ${random.int(2, 25)}`,
        ...body,
        `SUB ${x} ${random.int(2, 3)}`,
        `JPOS ${x} 4`,
        `OUT ${y}`,
      ];
      const output = runMachine(program);
      if (output === undefined || output.length < 4 || output.length > 6) return undefined;
      return {
        prompt: prose(
          "An invented machine has the registers A, B and C, which hold whole numbers. It executes the numbered lines of the",
          "input one after another and stops after the last. SET r n: r becomes n. ADD r s: r becomes r + s. SUB r n: r becomes",
          "r - n. MOD r n: r becomes the remainder of r divided by n. OUT r puts r out. JODD r n: if r is odd, line n is next.",
          "JPOS r n: if r is greater than 0, line n is next. Which numbers are put out? Answer with the numbers in order,",
          "separated by single spaces, and nothing else.",
        ),
        input: { program: program.map((text, i) => `${i + 1} ${text}`) },
        grader: { type: "exact" },
        expected_output: output.join(" "),
      };
    }),
);

/** Templates of the domain `coding`. */
export const codingTemplates = [javascriptTrace, pythonTrace, sqlResult, smallMachine];
