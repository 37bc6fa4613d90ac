import * as z from "zod";

/** Any JSON value (RFC 8259), as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Longest pattern, in UTF-16 code units, that the regex grader or an output schema takes. */
export const MAX_PATTERN_LENGTH = 1000;

const count = z.int().min(0).max(1_000_000);
const tolerance = z.number().min(0);
const text = z.string().min(1).max(1000);
const words = z.array(text).min(1).max(100);

const counted = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), n: count });
const flagged = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind) });

/** One rule of the constraints grader. */
const ruleSchema = z.discriminatedUnion("kind", [
  counted("min_words"),
  counted("max_words"),
  counted("exact_words"),
  counted("min_sentences"),
  counted("max_sentences"),
  counted("exact_paragraphs"),
  counted("bullets"),
  counted("max_chars"),
  z.strictObject({ kind: z.literal("include"), words }),
  z.strictObject({ kind: z.literal("exclude"), words }),
  z.strictObject({ kind: z.literal("starts_with"), text }),
  z.strictObject({ kind: z.literal("ends_with"), text }),
  flagged("lowercase"),
  flagged("uppercase"),
  flagged("no_commas"),
  flagged("json"),
]);

/** A task's grader: its type and the options of that type, no others. */
export const graderSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("exact") }),
  z.strictObject({ type: z.literal("normalized_text") }),
  z.strictObject({
    type: z.literal("numeric"),
    tolerance: tolerance.exactOptional(),
    relative: z.boolean().exactOptional(),
  }),
  z.strictObject({ type: z.literal("multiple_choice"), choices: z.array(text).min(2).max(26) }),
  z.strictObject({ type: z.literal("regex"), pattern: z.string().min(1).max(MAX_PATTERN_LENGTH) }),
  z.strictObject({ type: z.literal("set_f1"), separator: z.string().min(1).max(10).exactOptional() }),
  z.strictObject({
    type: z.literal("json_fields"),
    fields: z
      .record(
        z.string(),
        z.strictObject({ tolerance: tolerance.exactOptional(), optional: z.boolean().exactOptional() }),
      )
      .exactOptional(),
    // No key has so many fields; the limit spares looking at half a million names.
    unordered: z.array(z.string()).max(10_000).meta({ maxItems: undefined }).exactOptional(),
  }),
  z.strictObject({ type: z.literal("json_schema") }),
  z.strictObject({
    type: z.literal("tool_calls"),
    order: z.enum(["strict", "any"]),
    allow_extra: z.boolean().exactOptional(),
  }),
  z.strictObject({ type: z.literal("constraints"), rules: z.array(ruleSchema).min(1).max(50) }),
  z.strictObject({ type: z.literal("refusal") }),
]);

/** One rule of the constraints grader. */
export type Rule = z.infer<typeof ruleSchema>;

/** A task's grader: its type and the options of that type. */
export type Grader = z.infer<typeof graderSchema>;

/** The names of the graders. */
export type GraderType = Grader["type"];

/** The grader of one type with its options. */
export type GraderOf<T extends GraderType> = Extract<Grader, { type: T }>;
