import * as z from "zod";
import type { ExactJson } from "../../platform/exact-json.ts";
import { type Answer, AnswerJson } from "../answer.ts";
import type { Reading, Unusable } from "./protocol.ts";

/** The most tool calls that an answer may hold. */
export const MAX_TOOL_CALLS = 1000;

/** How many characters of what an agent says are quoted. */
const MAX_EXCERPT = 500;

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list whose items are not looked at. */
export const List = z.custom<unknown[]>(Array.isArray);

/** A list that is read up to the first item that does not fit: an issue for each would let a flood of bad items exhaust us. */
export function listOf<T>(item: z.ZodType<T>, max: number) {
  return List.refine((items) => items.length <= max, { abort: true }).transform((items, context): T[] => {
    const read: T[] = [];
    for (const [index, value] of items.entries()) {
      const parsed = item.safeParse(value);
      if (!parsed.success) {
        context.addIssue({ code: "custom", path: [index, ...(parsed.error.issues[0]?.path ?? [])] });
        return z.NEVER;
      }
      read.push(parsed.data);
    }
    return read;
  });
}

/** The calls that an agent made, in order. */
export const ToolCalls = listOf(z.object({ name: z.string(), arguments: AnswerJson }), MAX_TOOL_CALLS);

/** What of an agent's report by callback is graded. */
export const Reported = z.object({
  output: AnswerJson.optional(),
  tool_calls: ToolCalls.nullish().transform((calls) => calls ?? undefined),
});

/**
 * The answer with these parts; invalid without any of `output`, `tool_calls` and `refused`. Null says the same as a missing
 * part, as many serialisers write it; but for the output, where it is an answer.
 */
export function answered(parts: {
  output?: ExactJson | undefined;
  refused?: boolean | null | undefined;
  tool_calls?: Answer["tool_calls"] | null | undefined;
  usage?: Answer["usage"] | undefined;
}): Reading {
  const { output, refused, tool_calls, usage } = parts;
  if (output === undefined && tool_calls == null && refused == null) {
    return invalid("The answer has no output.");
  }
  return {
    kind: "answer",
    answer: {
      ...(output === undefined ? {} : { output }),
      ...(refused == null ? {} : { refused }),
      ...(tool_calls == null ? {} : { tool_calls }),
      ...(usage === undefined ? {} : { usage }),
    },
  };
}

/** An answer that is not what its protocol says. */
export function invalid(detail: string): Unusable {
  return { kind: "failure", code: "agent_invalid_response", detail };
}

/** An answer that does not fit its schema: the detail says where, but never what is there. */
export function misfit(error: z.ZodError, ...below: string[]): Unusable {
  const at = [...below, ...(error.issues[0]?.path ?? [])].join(".");
  return invalid(
    `The answer does not fit the protocol${at === "" ? ": it is a list or a text, not an object" : ` at ${at}`}.`,
  );
}

/** The agent says that it failed: `detail`, followed by the agent's own words, if any. */
export function reportedFailure(detail: string, said = ""): Unusable {
  const words = excerpt(said);
  return {
    kind: "failure",
    code: "agent_reported_failure",
    detail: words === "" ? `${detail}.` : `${detail}: ${words}`,
  };
}

/**
 * The start of an agent's text, `most` characters of it, in a form that the database can hold: without control characters and
 * lone surrogates.
 */
export function excerpt(text: string, most = MAX_EXCERPT): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
}
