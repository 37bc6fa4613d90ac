import * as z from "zod";
import type { Answer, Json, Task, Tool, ToolCall } from "../protocol.ts";
import { callTools } from "./kind.ts";
import { choicesOf, sentencesOf, wordsOf } from "./text.ts";

const STOP_WORDS = new Set("a an the of to in is are and or for on at by with it that this which what how".split(" "));
const CLOSE_TO_BEST = 0.8;
const record = z.record(z.string(), z.json());
const Passage = z.object({ id: z.string(), text: z.string() });

/** An answer to a task that no rule understands: the form that is asked for, filled by the words that tasks share. */
export function fallback(task: Task): Answer {
  if (task.output_format === "tool_calls") return callTools(plannedCalls(task));
  const choices = [...choicesOf(task.prompt)];
  if (choices.length > 1) return { output: closest(choices, ([, text]) => text, task.prompt)?.[0] ?? "A" };
  const passages = passagesOf(task.input);
  if (task.output_format === "json") return { output: filled(task.output_schema ?? {}, passages, task.prompt) };
  const best = closest(passages, ({ text }) => text, task.prompt);
  return { output: best === undefined ? plainAnswer(task.prompt) : lastName(best.text) };
}

/** A call of the tool nearest to the prompt for each record of the input that has all that the tool requires. */
function plannedCalls({ prompt, input, tools }: Task): ToolCall[] {
  const tool = closest(tools ?? [], ({ name, description }) => `${name.replaceAll("_", " ")} ${description}`, prompt);
  if (tool === undefined) return [];
  const lists = Object.values(record.catch({}).parse(input));
  const rows = lists.flatMap((value) => z.array(record).safeParse(value).data ?? []);
  return rows
    .map((row) => ({ name: tool.name, arguments: argumentsFrom(row, tool) }))
    .filter((call) => Object.values(call.arguments).every((value) => value !== null && value !== ""));
}

/** What the tool requires, from the fields of the same names; an `…_id` also from the field `id`; null for the rest. */
function argumentsFrom(row: Record<string, Json>, tool: Tool): Record<string, Json> {
  const required = z.array(z.string()).catch([]).parse(tool.parameters["required"]);
  const given = required.map((name) => [name, row[name] ?? (name.endsWith("_id") ? row["id"] : null) ?? null] as const);
  return Object.fromEntries(given);
}

function passagesOf(input: Json | undefined): z.output<typeof Passage>[] {
  const lists = Object.values(record.catch({}).parse(input));
  return lists.flatMap((list) => z.array(Passage).safeParse(list).data ?? []);
}

/** JSON of the schema's form: ids of the nearest passages for a list of texts, a number of the nearest one for a number. */
function filled(schema: Record<string, Json>, passages: z.output<typeof Passage>[], question: string): Json {
  const nearest = closest(passages, ({ text }) => text, question)?.text ?? question;
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  switch (type) {
    case "object": {
      const fields = Object.entries(record.catch({}).parse(schema["properties"]));
      return Object.fromEntries(
        fields.map(([name, part]) => [name, filled(record.catch({}).parse(part), passages, `${question} ${name}`)]),
      );
    }
    case "array": {
      const scores = passages.map(({ id, text }) => ({ id, score: overlap(text, question) }));
      const best = Math.max(0, ...scores.map(({ score }) => score));
      return scores.filter(({ score }) => score > 0 && score >= CLOSE_TO_BEST * best).map(({ id }) => id);
    }
    case "number":
    case "integer":
      return Number(/\d+(?:\.\d+)?/u.exec(nearest)?.[0] ?? 0);
    case "boolean":
      return true;
    default:
      return lastName(nearest);
  }
}

/** The last run of capitalised words: where a sentence tells who or what, that is where it mostly stands. */
function lastName(text: string): string {
  return text.match(/\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*/gu)?.at(-1) ?? text;
}

function plainAnswer(prompt: string): string {
  const [request = prompt] = sentencesOf(prompt);
  return `You ask about this: “${request}” Begin with a safe middle setting, try it once, compare, and change one thing at a time.`;
}

function closest<T>(items: readonly T[], textOf: (item: T) => string, question: string): T | undefined {
  const scored = items.map((item) => ({ item, score: overlap(textOf(item), question) }));
  return scored.toSorted((a, b) => b.score - a.score)[0]?.item;
}

/** The share of the telling words of `text` that the question has, too. */
function overlap(text: string, question: string): number {
  const asked = new Set(wordsOf(question));
  const telling = wordsOf(text).filter((word) => !STOP_WORDS.has(word));
  return telling.length === 0 ? 0 : telling.filter((word) => asked.has(word)).length / telling.length;
}
