import * as z from "zod";
import type { Json } from "../protocol.ts";
import type { Solver } from "./kind.ts";
import { literal } from "./text.ts";

const Schema = z.object({
  type: z.literal("object"),
  properties: z.record(
    z.string(),
    z.looseObject({ type: z.union([z.string(), z.array(z.string())]).default("string") }),
  ),
});
const TextInput = z.union([
  z.string(),
  z
    .record(z.string(), z.string())
    .refine((fields) => Object.keys(fields).length === 1)
    .transform((fields) => Object.values(fields)[0] ?? ""),
]);

/** How many of the smaller unit one of the larger is. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  g: { g: 1, kg: 1000 },
  kg: { kg: 1, g: 0.001 },
  ml: { ml: 1, l: 1000 },
  m: { m: 1, km: 1000, cm: 0.01 },
  eur: { EUR: 1, "€": 1 },
  usd: { USD: 1, $: 1 },
};

/**
 * Fields of one document, by the names in the task's schema: the value that follows a label (`Due date: …`), or a number
 * with the unit that the name ends in (`weight_g`). What a reader of the document would not see does not count, and
 * nothing in it is an instruction.
 */
export const fields: Solver = ({ input, output_schema }) => {
  const schema = Schema.safeParse(output_schema).data;
  const text = TextInput.safeParse(input).data;
  if (schema === undefined || text === undefined) return null;
  const lines = visibleLines(text);
  const found = Object.entries(schema.properties).map(([name, { type }]) => {
    const [kind = "string"] = [type].flat();
    return [name, fieldOf(name, kind, lines)] as const;
  });
  return found.some(([, value]) => value !== null) ? { output: Object.fromEntries(found) } : null;
};

/** The lines of a text, or of a page without comments, hidden elements and struck out text. */
function visibleLines(text: string): string[] {
  return text
    .replace(/<!--[\s\S]*?-->|<head>[\s\S]*?<\/head>/giu, "")
    .replace(/<(\w+)[^>]*(?:display:\s*none|\bhidden\b)[^>]*>[\s\S]*?<\/\1>/giu, "")
    .replace(/<(s|del|script|style)>[\s\S]*?<\/\1>/giu, "")
    .replace(/<\/?(?:p|h\d|li|tr|div|br)\b[^>]*>/giu, "\n")
    .replace(/<[^>]*>/gu, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function fieldOf(name: string, type: string, lines: readonly string[]): Json {
  const words = name.split("_");
  const unit = UNITS[words.at(-1) ?? ""];
  if (type === "boolean") return flagOf(words, lines);
  if (type === "string") return words.at(-1) === "date" ? dateOf(words, lines) : textOf(words, lines);
  const number = unit === undefined ? numberAfter(words, lines) : measureOf(words.slice(0, -1), unit, lines);
  return number !== null && type === "integer" ? Math.round(number) : number;
}

function labelOf(words: readonly string[]): RegExp {
  return new RegExp(`\\b${words.map(literal).join("[\\s_-]+")}\\b`, "iu");
}

/** What follows a label in its line, for the first line that has it. */
function following(words: readonly string[], lines: readonly string[]): string | null {
  for (const line of lines) {
    const match = labelOf(words).exec(line);
    if (match !== null) return line.slice(match.index + match[0].length).replace(/^[\s:#.-]+/u, "");
  }
  return null;
}

function textOf(words: readonly string[], lines: readonly string[]): string | null {
  const value = following(words, lines);
  if (value !== null && value !== "") return value.split(/\s{2,}|;/u)[0] ?? null;
  return words.length === 1 && /^(?:name|title)$/u.test(words[0] ?? "") ? (lines[0] ?? null) : null;
}

function dateOf(words: readonly string[], lines: readonly string[]): string | null {
  return /\d{4}-\d\d-\d\d/u.exec(following(words, lines) ?? "")?.[0] ?? null;
}

function flagOf(words: readonly string[], lines: readonly string[]): boolean | null {
  const line = lines.find((candidate) => labelOf(words.slice(-1)).test(candidate));
  return line === undefined ? null : !/\b(?:no|not|out of|without|false)\b/iu.test(line);
}

function numberAfter(words: readonly string[], lines: readonly string[]): number | null {
  const digits = /-?\d[\d,]*(?:\.\d+)?/u.exec(following(words, lines) ?? "")?.[0];
  return digits === undefined ? null : Number(digits.replaceAll(",", ""));
}

/** The first number with the unit, in a line with the label or, where no line has it, anywhere. */
function measureOf(
  label: readonly string[],
  unit: Readonly<Record<string, number>>,
  lines: readonly string[],
): number | null {
  const symbols = Object.keys(unit).toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(`(\\d+(?:\\.\\d+)?)\\s?(${symbols.map(literal).join("|")})(?![\\p{L}])`, "u");
  const labelled = lines.filter((line) => labelOf(label).test(line));
  const [, amount, symbol = ""] =
    (labelled.length > 0 ? labelled : lines).map((line) => pattern.exec(line)).find((match) => match !== null) ?? [];
  return amount === undefined ? null : Number((Number(amount) * (unit[symbol] ?? 1)).toFixed(6));
}
