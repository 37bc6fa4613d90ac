import type { Json } from "../../../../shared/grading/schema.ts";
import { allGroups, groups, inputOf, numbers, only, type Solver } from "./support.ts";

const COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven"];
const ORDINALS = ["zeroth", "first", "second", "third", "fourth", "fifth"];

const countOf = (name = ""): number => {
  const count = COUNTS.indexOf(name.toLowerCase());
  if (count < 0) throw new Error(`${name} is not a number`);
  return count;
};
/** The words of "a, b and c" or "a, b or c". */
const listed = (text = ""): string[] => text.split(/, | and | or /);
const written = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Throws where a text breaks the rules on words. */
function checkWords(text: string, wanted: readonly string[], barred: readonly string[]): void {
  const words = written(text);
  const missing = wanted.filter((word) => !words.includes(word.toLowerCase()));
  const forbidden = barred.filter((word) => words.includes(word.toLowerCase()));
  if (missing.length + forbidden.length > 0)
    throw new Error(`missing: ${missing.join()}, forbidden: ${forbidden.join()}`);
}

const libraryNotice: Solver = ({ prompt }) => {
  const [paragraphs] = groups(/Exactly (\w+) paragraphs, parted by one blank line/, prompt);
  const [fewest = 0, most = 0] = numbers(/(\d+) to (\d+) words in all/, prompt);
  const [opening = "", closing = ""] = groups(/begins with “(.+?)” and ends with “(.+?)” \(no full stop/, prompt);
  const [wanted] = groups(/It contains the words (.+)\./, prompt);
  const [barred] = groups(/does not contain the words (.+)\./, prompt);
  groups(/(It contains no comma\.)/, prompt);
  const tale = [`${opening}\nA word on ${listed(wanted).join(" then ")}.`];
  for (let i = 2; i < countOf(paragraphs); i += 1) tale.push("More will follow.");
  const end = (more: number) => `All else goes on${" as ever".repeat(more)}.\n${closing}`;
  const length = (more: number) => written([...tale, end(more)].join(" ")).length;
  let more = 0;
  while (length(more) < fewest) more += 1;
  const text = [...tale, end(more)].join("\n\n");
  if (length(more) > most) throw new Error("the notice gets too long");
  checkWords(text, listed(wanted), listed(barred));
  return text;
};

const tentList: Solver = ({ prompt }) => {
  const [count, mark = ""] = groups(/Exactly (\w+) bullets, each on its own line beginning with “(.) ”/, prompt);
  const [most = 0] = numbers(/At most (\d+) words in all/, prompt);
  const [wanted] = groups(/The words (.+) occur\./, prompt);
  const [barred, small = ""] = groups(/The words (.+) do not occur, and neither does the word (\w+)\./, prompt);
  const [ending = ""] = groups(/last bullet ends with the words “(.+)”/, prompt);
  const [form] = groups(/The whole text is in (lower case|capitals)\./, prompt);
  const items = listed(wanted).map((word) => `see to your ${word}`);
  while (items.length < countOf(count) - 1) items.push("go on");
  const text = [...items, `relax then ${ending}`].map((item) => `${mark} ${item}`).join("\n");
  if (written(text).length > most) throw new Error("the list gets too long");
  checkWords(text, listed(wanted), [...listed(barred), small]);
  return form === "capitals" ? text.toUpperCase() : text.toLowerCase();
};

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  minimum?: number;
  multipleOf?: number;
  minLength?: number;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: Json[];
  const?: Json;
  contains?: Schema;
  minContains?: number;
}

/** The least value of a schema of one of the kinds that a plan is made of; `number` makes texts differ. */
function valueOf(schema: Schema, number: number): Json {
  const { type, minimum = 0, multipleOf = 1, anyOf: [range] = [], enum: values } = schema;
  if (values !== undefined) return values[number % values.length] ?? null;
  if (type === "string") return `Name ${number}`.padEnd(schema.minLength ?? 0, "x");
  if (type === "integer")
    return range === undefined ? Math.ceil(minimum / multipleOf) * multipleOf : valueOf({ ...range, type }, number);
  if (type === "array") return itemsOf(schema);
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(required.map((name) => [name, valueOf(properties[name] ?? {}, number)]));
}

/** As few items as may be, of which as few as may be are of the kind that must be there. */
function itemsOf({ items = {}, minItems = 0, contains = {}, minContains = 0 }: Schema): Json[] {
  const [rank = ""] = Object.keys(contains.properties ?? {});
  const kinds = (items.oneOf ?? []).map((branch) => {
    const { const: one, enum: several = [] } = branch.properties?.[rank] ?? {};
    return { rank: one ?? several[0] ?? null, more: branch.required ?? [] };
  });
  const wanted = contains.properties?.[rank]?.const;
  const special = only(kinds.filter((kind) => kind.rank === wanted));
  const plain = only(kinds.filter((kind) => kind.rank !== wanted));
  return Array.from({ length: minItems }, (_, i) => {
    const kind = i < minContains ? special : plain;
    const required = [...(items.required ?? []), ...kind.more].filter((name) => name !== rank);
    const { properties = {} } = items;
    return {
      ...Object.fromEntries(required.map((name) => [name, valueOf(properties[name] ?? {}, i)])),
      [rank]: kind.rank,
    };
  });
}

const observatoryPlan: Solver = (asked) => {
  const schema: Schema = JSON.parse(JSON.stringify(asked.output_schema));
  const [few, many] = groups(/and (\w+) to (\w+) \w+ with/, asked.prompt).map(countOf);
  const jobs = only(Object.values(schema.properties ?? {}).filter(({ type }) => type === "array"));
  if (JSON.stringify(jobs).includes(`"minItems":${few},"maxItems":${many}`)) return valueOf(schema, 0);
  throw new Error("prompt and schema differ");
};

/** The steps as they read, each with what is done to the list in place. */
const STEPS: readonly [RegExp, (list: string[], ...parts: string[]) => void][] = [
  [/^Swap the first and the last word\.$/, (list) => swap(list, 1, list.length)],
  [/^Swap the words at positions (\d+) and (\d+)\.$/, (list, a, b) => swap(list, Number(a), Number(b))],
  [
    /^Delete every word of exactly (\w+) letters\.$/,
    (list, length) => {
      for (let i = list.length - 1; i >= 0; i -= 1) if (list[i]?.length === countOf(length)) list.splice(i, 1);
    },
  ],
  [
    /^Put the word “(\w+)” (behind|in front of) the (\w+) word\.$/,
    (list, word = "", where, place = "") => {
      list.splice(ORDINALS.indexOf(place) - (where === "behind" ? 0 : 1), 0, word);
    },
  ],
  [/^Reverse the order of the whole list\.$/, (list) => list.unshift(...list.splice(0).toReversed())],
  [/^Reverse the order of the first four words\.$/, (list) => list.unshift(...list.splice(0, 4).toReversed())],
  [
    /^Write the word at position (\d+) in capitals\.$/,
    (list, place) => edit(list, place, (word) => word.toUpperCase()),
  ],
  [
    /^If the list now has an odd number of words, delete the middle one; otherwise delete the (first|last) one\.$/,
    (list, otherwise) => {
      if (list.length % 2 === 1) list.splice(Math.floor(list.length / 2), 1);
      else if (otherwise === "first") list.shift();
      else list.pop();
    },
  ],
  [/^Move the last word to the front\.$/, (list) => list.unshift(list.pop() ?? "")],
  [/^Move the first word to the end\.$/, (list) => list.push(list.shift() ?? "")],
  [
    /^Reverse the letters of the word at position (\d+)\.$/,
    (list, place) => edit(list, place, (word) => word.split("").toReversed().join("")),
  ],
];

function edit(list: string[], place: string | undefined, change: (word: string) => string): void {
  const word = list[Number(place) - 1];
  if (word === undefined) throw new Error(`there is no word ${place}`);
  list[Number(place) - 1] = change(word);
}

function swap(list: string[], a: number, b: number): void {
  const [first = "", second = ""] = [list[a - 1], list[b - 1]];
  edit(list, String(a), () => second);
  edit(list, String(b), () => first);
}

const wordEdits: Solver = (asked) => {
  const { words, steps } = inputOf<{ words: string[]; steps: string[] }>(asked);
  for (const step of steps) {
    const [form, carryOut] = only(STEPS.filter(([pattern]) => pattern.test(step)));
    carryOut(words, ...(allGroups(new RegExp(form, "g"), step)[0] ?? []));
  }
  return words.join(" ");
};

/** Solvers of the templates of `instruction_following`. */
export const instructionFollowingSolvers: Record<string, Solver> = {
  "instructions-library-notice": libraryNotice,
  "instructions-tent-list": tentList,
  "instructions-observatory-plan": observatoryPlan,
  "instructions-word-edits": wordEdits,
};
