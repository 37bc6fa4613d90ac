import { DatabaseSync } from "node:sqlite";
import { createContext, runInContext } from "node:vm";
import { type Check, groups, inputOf, numbers } from "./support.ts";

let printed: string[] = [];
const context = createContext({ console: { log: (line: string) => printed.push(line) } });

/** What the JavaScript program in the prompt prints when it is really run. */
const javascriptTrace: Check = (task) => {
  const [program = ""] = groups(/\n\n(.*)$/s, task.prompt);
  printed = [];
  runInContext(`{${program}}`, context);
  return printed.join("\n");
};

const pythonTrace: Check = (task) => {
  const [list = ""] = groups(/^data = \[(.*)\]$/m, task.prompt);
  const [divisor = 1, alone = 0, again = 0] = numbers(
    /% (\d+) .*tally\((-?\d+), \[\]\), tally\((-?\d+)\)/s,
    task.prompt,
  );
  const modulo = (n: number) => ((n % divisor) + divisor) % divisor;
  const quotient = (n: number) => (n - modulo(n)) / divisor;
  const data = list.split(", ").map(Number);
  // The default list lives on from call to call, so its length is the number of different quotients so far.
  const calls = [...data, again];
  const results = calls.map((n, i) => modulo(n) + new Set(calls.slice(0, i + 1).map(quotient)).size);
  const marks = results.slice(0, -1);
  const total = marks.reduce((sum, mark) => sum + mark, 0);
  const everySecond = marks.toReversed().filter((_, i) => i % 2 === 0);
  return `${total} ${modulo(alone) + 1} ${results.at(-1)} [${everySecond.join(", ")}]`;
};

interface Tables {
  customers: { id: number; name: string; region: string }[];
  orders: { id: number; customer_id: number | null; status: string; amount: number | null }[];
}

const database = new DatabaseSync(":memory:");
database.exec(
  "CREATE TABLE customers (id INTEGER, name TEXT, region TEXT);" +
    "CREATE TABLE orders (id INTEGER, customer_id INTEGER, status TEXT, amount INTEGER);",
);
const addCustomer = database.prepare("INSERT INTO customers VALUES (?, ?, ?)");
const addOrder = database.prepare("INSERT INTO orders VALUES (?, ?, ?, ?)");

/** What a real SQL database answers to the query in the prompt. */
const sqlResult: Check = (task) => {
  const { customers, orders } = inputOf<Tables>(task);
  const [query = ""] = groups(/(SELECT .*;)$/s, task.prompt);
  database.exec("DELETE FROM customers; DELETE FROM orders");
  for (const { id, name, region } of customers) addCustomer.run(id, name, region);
  for (const { id, customer_id, status, amount } of orders) addOrder.run(id, customer_id, status, amount);
  const rows = database.prepare(query).all();
  return { rows: rows.map((row) => [String(row.region), Number(row.paid), Number(row.total)]) };
};

const smallMachine: Check = (task) => {
  const { program } = inputOf<{ program: string[] }>(task);
  const state: Record<string, number> = { A: 0, B: 0, C: 0 };
  const out: number[] = [];
  const run = (line: number): number => {
    const [number, operation, r = "", operand = ""] = (program[line - 1] ?? "").split(" ");
    if (Number(number) !== line) throw new Error("a line has the wrong number");
    const now = state[r] ?? Number.NaN;
    const next: Record<string, () => number | undefined> = {
      SET: () => void (state[r] = Number(operand)),
      ADD: () => void (state[r] = now + (state[operand] ?? Number.NaN)),
      SUB: () => void (state[r] = now - Number(operand)),
      MOD: () => void (state[r] = now - Number(operand) * Math.trunc(now / Number(operand))),
      OUT: () => void out.push(now),
      JODD: () => (Math.abs(now) % 2 === 1 ? Number(operand) : undefined),
      JPOS: () => (now > 0 ? Number(operand) : undefined),
    };
    return next[operation ?? ""]?.() ?? line + 1;
  };
  let line = 1;
  while (line <= program.length) line = run(line);
  return out.join(" ");
};

/** Second computations for the templates of `coding`. */
export const codingChecks: Record<string, Check> = {
  "javascript-trace": javascriptTrace,
  "python-trace": pythonTrace,
  "sql-result": sqlResult,
  "small-machine": smallMachine,
};
