import { allGroups, groups, inputOf, numbers, only, type Solver } from "./support.ts";

/** Runs the lines of the program one by one, with Python's lists as references. */
const pythonCollect: Solver = ({ prompt }) => {
  const [call = "", bag = ""] = groups(/^def (\w+)\(word, (\w+)=\[\]\):$/m, prompt);
  const guarded = prompt.includes(`    if word not in ${bag}:\n        ${bag}.append(word)\n    return ${bag}\n`);
  if (!guarded) throw new Error("the function is another one");
  const defaults: string[] = [];
  const variables = new Map<string, string[]>();
  const valueOf = (name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`${name} is not bound`);
    return value;
  };
  const words = (list: string) => allGroups(/"(\w+)"/g, list).map(([word = ""]) => word);
  const collect = (given: string): string[] => {
    const [word = "", ...own] = words(given);
    const list = given.includes("[") ? own : defaults;
    if (!list.includes(word)) list.push(word);
    return list;
  };
  const [, program = ""] = prompt.split(`return ${bag}\n\n`);
  for (const line of program.split("\n")) {
    const [, target = "", given] = /^(\w+) = \w+\((.+)\)$/.exec(line) ?? [];
    const [, extended, by = ""] = /^(\w+) \+= (\w+)$/.exec(line) ?? [];
    const [, bound, from = "", more = ""] = /^(\w+) = (\w+) \+ \["(\w+)"\]$/.exec(line) ?? [];
    const [, called, appended = ""] = /^\w+\("(\w+)"\)\.append\("(\w+)"\)$/.exec(line) ?? [];
    if (given !== undefined) variables.set(target, collect(given));
    else if (extended !== undefined) valueOf(extended).push(...valueOf(by));
    else if (bound !== undefined) variables.set(bound, [...valueOf(from), more]);
    else if (called !== undefined) collect(`"${called}"`).push(appended);
    else if (!line.startsWith("print(")) throw new Error(`not understood: ${line}`);
  }
  const [one = "", other = "", joiner = "", last = ""] = groups(
    new RegExp(`^print\\(len\\((\\w+)\\), len\\((\\w+)\\), "(.)"\\.join\\(${call}\\("(\\w+)"\\)\\)\\)$`, "m"),
    prompt,
  );
  return [valueOf(one).length, valueOf(other).length, collect(`"${last}"`).join(joiner)].join(" ");
};

type Span = [number, number];
interface Code {
  sort: string;
  test: string;
  end: string;
  add: string;
}
const RIGHT: Code = {
  sort: "a[0] - b[0]",
  test: "last >= 0 && s[0] <= E[1]",
  end: "Math.max(E[1], s[1])",
  add: "s[0], s[1]",
};

/** A sum of the few forms that stand in the method, as a function of the interval `s` and the last one `E`. */
function term(text: string): (s: Span, last: Span) => number {
  const [, a, b] = /^Math\.max\((.+), (.+)\)$/.exec(text) ?? [];
  if (a !== undefined && b !== undefined) {
    const [left, right] = [term(a), term(b)];
    return (s, last) => Math.max(left(s, last), right(s, last));
  }
  const [of, bound] = groups(/^(s|E)\[([01])\]$/, text);
  return (s, last) => (of === "s" ? s : last)[bound === "0" ? 0 : 1];
}

/** The method as it stands, run on one list. */
function compiled({ sort, test, end, add }: Code): (spans: readonly Span[]) => Span[] {
  const [first = "", by = ""] = groups(/^(?:(a|b)\[([01])\] - [ab]\[[01]\])$/, sort);
  const [least, left = "", sign, right = ""] = groups(/^last (>=?) 0 && (\S+) (<=|>=|<) (\S+)$/, test);
  const [from = "", to = ""] = add.split(", ");
  const [l, r, e, f, t] = [left, right, end, from, to].map(term);
  const compare = (a: number, b: number) => (sign === "<" ? a < b : sign === ">=" ? a >= b : a <= b);
  const key = (span: Span) => (first === "a" ? 1 : -1) * span[by === "0" ? 0 : 1];
  return (spans) => {
    const out: Span[] = [];
    for (const s of spans.toSorted((a, b) => key(a) - key(b))) {
      const last = out.length - 1;
      const top = out.at(-1) ?? s;
      const joins = (least === ">" ? last > 0 : last >= 0) && compare(l?.(s, top) ?? 0, r?.(s, top) ?? 0);
      if (joins) top[1] = e?.(s, top) ?? 0;
      else out.push([f?.(s, top) ?? 0, t?.(s, top) ?? 0]);
    }
    return out;
  };
}

/** The merged intervals by marking every half unit that is covered. */
function covered(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (let half = 0; half <= 8; half += 1) {
    if (!spans.some(([start, end]) => 2 * start <= half && half <= 2 * end)) continue;
    const last = out.at(-1);
    if (last !== undefined && last[1] * 2 === half - 1) last[1] = half / 2;
    else out.push([half / 2, half / 2]);
  }
  return out;
}

const bounds = [0, 1, 2, 3, 4];
const spans = bounds.flatMap((start) => bounds.filter((end) => end >= start).map((end): Span => [start, end]));
const cases = spans
  .flatMap((a) => [[a], ...spans.flatMap((b) => [[a, b], ...spans.map((c) => [a, b, c])])])
  .map((given) => ({ given, wanted: JSON.stringify(covered(given)) }));
const judged = new Map<string, boolean>();

/** Whether the method merges every list of up to three small intervals; each form of it is tried once. */
function merges(code: Code): boolean {
  const name = JSON.stringify(code);
  const run = compiled(code);
  const right = judged.get(name) ?? cases.every(({ given, wanted }) => JSON.stringify(run(given)) === wanted);
  judged.set(name, right);
  return right;
}

const javaMergeLine: Solver = ({ prompt }) => {
  const code = allGroups(/^ *(\d+) {2,}(\S.*)$/gm, prompt);
  const text = code.map(([, line]) => line).join("\n");
  const [item = "", given = ""] = groups(/for \(int\[\] (\w+) : (\w+)\)/, text);
  const [out = ""] = groups(/int last = (\w+)\.size\(\) - 1;/, text);
  const plain = (line: string) =>
    line
      .replaceAll(`${out}.get(last)`, "E")
      .replaceAll(`${item}[`, "s[")
      .replace(/^\(a, b\) -> /, "")
      .replace(/^Comparator\.comparingInt\(a -> a\[(\d)\]\)$/, "a[$1] - b[$1]");
  const forms: [keyof Code, RegExp][] = [
    ["sort", new RegExp(`^${given}\\.sort\\((.+)\\);$`)],
    ["test", /^if \((last .+)\) \{$/],
    ["end", new RegExp(`^${out}\\.get\\(last\\)\\[1\\] = (.+);$`)],
    ["add", new RegExp(`^${out}\\.add\\(new int\\[\\] \\{(.+)\\}\\);$`)],
  ];
  const found = forms.map(([part, form]) => {
    const [number = "", line = ""] = only(code.filter(([, one = ""]) => form.test(one)));
    return { part, number, text: plain(groups(form, line)[0] ?? "") };
  });
  const shown = { ...RIGHT, ...Object.fromEntries(found.map((line) => [line.part, line.text])) };
  if (merges(shown)) throw new Error("the method is right as it stands");
  const { number } = only(found.filter(({ part }) => merges({ ...shown, [part]: RIGHT[part] })));
  const [letter = ""] = only(allGroups(/^([A-E])\) line (\d+)$/gm, prompt).filter(([, line]) => line === number));
  return letter;
};

/** Works the query out as the standard says: join, filter, group, count, order. */
const sqlPaidTrips: Solver = (asked) => {
  const [distinct, amount = "", many = "", item = "", key = "", status, home = "", barred, descending] = groups(
    /COUNT\((DISTINCT )?\w\.(\w+)\) AS \w+\nFROM (\w+) \w\nLEFT JOIN (\w+) \w ON \w\.(\w+) = \w\.id AND \w\.status = '(\w+)'\nWHERE \w\.(\w+) <> '([\w ]+)'\nGROUP BY \w\.id, \w\.name\nORDER BY \w+( DESC)?, \w\.name;/,
    asked.prompt,
  );
  const tables = inputOf<Record<string, Record<string, string | number | null>[]>>(asked);
  const joined = (tables[many] ?? []).flatMap((owner) => {
    const matches = (tables[item] ?? []).filter((row) => row[key] === owner["id"] && row["status"] === status);
    return matches.length === 0
      ? [{ owner, value: null }]
      : matches.map((row) => ({ owner, value: row[amount] ?? null }));
  });
  const kept = joined.filter(({ owner }) => owner[home] !== null && owner[home] !== barred);
  const rows = [...Map.groupBy(kept, ({ owner }) => owner["id"]).values()].map((group): [string, number] => {
    const values = group.flatMap(({ value }) => (value === null ? [] : [value]));
    return [String(group[0]?.owner["name"]), distinct === "" ? values.length : new Set(values).size];
  });
  rows.sort(([nameA, a], [nameB, b]) => (descending === "" ? a - b : b - a) || nameA.localeCompare(nameB));
  return { rows };
};

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const cronFields: Solver = ({ prompt }) => {
  const [listed = "", first = "", last = ""] = groups(/fires at (.+) on every (\w+) to (\w+),/, prompt);
  const times = listed.split(/, | and /);
  const minute = only([...new Set(times.map((time) => Number(time.slice(3))))]);
  const hours = times.map((time) => numbers(/^(\d\d):/, time)[0]);
  return `${minute} ${hours.join(",")} * * ${DAYS.indexOf(first)}-${DAYS.indexOf(last)}`;
};

/** Solvers of the templates of `coding`. */
export const codingSolvers: Record<string, Solver> = {
  "coding-python-collect": pythonCollect,
  "coding-java-merge-line": javaMergeLine,
  "coding-sql-paid-trips": sqlPaidTrips,
  "coding-cron-fields": cronFields,
};
