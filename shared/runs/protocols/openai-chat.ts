import * as z from "zod";
import { isSince } from "../../grading/types.ts";
import type { ExactJson } from "../../platform/exact-json.ts";
import { type Allowed, MAX_VALUES, parseJsonBounded } from "../../platform/outbound/json.ts";
import { AnswerJson } from "../answer.ts";
import type { Job } from "../job.ts";
import { ErrorMessage } from "./error-words.ts";
import { functionNames } from "./function-names.ts";
import { formatInWords, inputInWords } from "./in-words.ts";
import { isPlainSchema } from "./plain-schema.ts";
import type { Asked, Protocol } from "./protocol.ts";
import { answered, invalid, List, listOf, MAX_TOOL_CALLS, misfit, reportedFailure } from "./reading.ts";

/** The API requires a model, but the endpoint is one agent, which has chosen its own. */
export const MODEL = "default";

/** The most parts of a message's content. */
const MAX_PARTS = 10_000;

// Text by the API; some servers give the value that it would be the JSON of.
const ToolCall = z.object({ function: z.object({ name: z.string(), arguments: AnswerJson }) });

/** Content in parts, as servers of reasoning models have it: what is text, without what led to it. */
const Parts = listOf(z.object({ type: z.string(), text: z.string().nullish() }), MAX_PARTS).transform((parts) =>
  parts.flatMap(({ type, text }) => (type === "text" ? (text ?? "") : [])).join(""),
);

/** In words alone, or with them as its message. */
const ErrorWords = z.union([z.string(), ErrorMessage]);

const Message = z.object({
  content: z.union([z.string(), Parts]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: listOf(ToolCall, MAX_TOOL_CALLS).nullish(),
});

/** How a choice ends that a provider's filter held back: by these words, or, at Gemini's, by these and the filter's own. */
const HELD_BACK = /^content_filter(?:: |$)/;
/** And how at Z.AI, and where a gateway hands on what Anthropic, Bedrock and Gemini say. */
const DECLINED =
  /^(?:refusal|sensitive|guardrail_intervened|content_filtered|SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII)$/;

const Choice = z
  .object({
    message: Message.nullish(),
    finish_reason: z.string().optional().catch(undefined),
    // Where a gateway says that the model failed on the way.
    error: ErrorWords.optional().catch(undefined),
  })
  // Gemini leaves the message out of a choice that it holds back.
  .refine(({ message, finish_reason = "" }) => message || HELD_BACK.test(finish_reason), { path: ["message"] });

/** What Perplexity charges in all: most of it is no token's, but the fee for the request. */
const Parted = z.object({ total_cost: z.number() }).transform(({ total_cost: total }) => total);

// Checked when it is priced, not when it is read.
const Usage = z.object({
  prompt_tokens: AnswerJson.default(null),
  completion_tokens: AnswerJson.default(null),
  total_tokens: AnswerJson.default(null),
  // Anthropic's, which some gateways leave out of the prompt.
  cache_read_input_tokens: AnswerJson.default(null),
  cache_creation_input_tokens: AnswerJson.default(null),
  // What OpenRouter charges, beside what the model's provider does where the agent's own key is used there; or Perplexity, in parts.
  cost: z.union([z.number(), Parted]).optional().catch(undefined),
  is_byok: z.boolean().optional().catch(undefined),
  cost_details: z.object({ upstream_inference_cost: z.number() }).optional().catch(undefined),
  // What xAI charges, in ticks of a ten-thousand-millionth of a dollar.
  cost_in_usd_ticks: z.number().optional().catch(undefined),
});

const ChatCompletion = z.object({
  // One choice is asked for; any others are ignored.
  choices: List.transform((choices) => choices.slice(0, 1)).pipe(z.tuple([Choice])),
  model: AnswerJson.default(null),
  usage: Usage.optional().catch(undefined),
});

/** What gateways answer with 200 where the model gave no answer; some servers have the words alone, or beside a code. */
const ApiError = z.union([
  z.object({ error: ErrorWords }),
  z
    .object({ code: z.union([z.number(), z.string()]), message: z.string().trim().min(1) })
    .transform(({ message }) => ({ error: message })),
]);

/** Else models that make one call after another wait for the result of the first, which never comes. */
const ONE_TURN =
  "Tool calls bring no result back: make all that are needed in this one answer, in the order in which they are to happen.";

const ERROR = "The agent answered with an error";

/** What became of a model that thought until it might write no more. */
const CUT_OFF = invalid("The answer has no output: the model came to its limit of tokens first. Allow it more.");

/**
 * OpenAI's chat completions, as compatible servers speak them: one user message, answered at once. A tool whose name
 * the API does not allow is sent under another (`functionNames`), and its calls are reported under its own.
 */
export const openaiChat: Protocol = {
  callsBack: false,

  request({ task }) {
    const names = functionNamesOf(task);
    const tools = (task.tools ?? []).map(({ name, description, parameters }) => ({
      type: "function",
      function: { name: names.get(name), description, parameters: parametersOf(parameters) },
    }));
    const turns = tools.length === 0 ? [] : [ONE_TURN];
    const content = [task.prompt, ...inputInWords(task), ...turns, ...formatInWords(task)].join("\n\n");
    return {
      model: MODEL,
      messages: [{ role: "user", content }],
      ...(tools.length === 0 ? {} : { tools }),
      ...responseFormatOf(task),
      // Some servers stream unless they are told not to.
      stream: false,
    };
  },

  read(body, { task, rules }) {
    const parsed = ChatCompletion.safeParse(body);
    if (!parsed.success) {
      const { data } = ApiError.safeParse(body);
      return data === undefined ? misfit(parsed.error) : reportedFailure(ERROR, data.error);
    }
    const isSince11 = rules === undefined || isSince(rules, "11");
    const { choices, model, usage } = parsed.data;
    const { message, finish_reason = "", error } = choices[0];
    const { content, refusal, tool_calls } = message ?? {};
    const saysNothing = !content && !refusal && !tool_calls?.length;
    if (saysNothing && error !== undefined) return reportedFailure(ERROR, error);
    // What a provider's filter held back is an answer that declines. What it let through before is one of its own.
    const isHeldBack = saysNothing && (HELD_BACK.test(finish_reason) || (isSince11 && DECLINED.test(finish_reason)));
    const tools = new Map([...functionNamesOf(task)].map(([tool, name]) => [name, tool]));
    const allowed = { values: MAX_VALUES };
    const reading = answered({
      output: (content || refusal || content) ?? undefined,
      refused: refusal || isHeldBack ? true : undefined,
      tool_calls: tool_calls?.map(({ function: { name, arguments: text } }) => ({
        name: tools.get(name) ?? name,
        arguments: argumentsOf(text, allowed, isSince11),
      })),
      usage: usage && {
        calls: [{ model, ...tokensOf(usage), ...paidOf(usage) }],
      },
    });
    return reading.kind === "failure" && finish_reason === "length" ? CUT_OFF : reading;
  },
};

/**
 * The tokens that a model read and wrote. What it thought is among those of its completion at OpenAI; at xAI and Gemini's
 * compatible endpoint it is in the total alone, and billed as output all the same. So is, at Portkey, what Anthropic's models
 * read by way of a cache, which is no output.
 */
function tokensOf(usage: z.output<typeof Usage>): { input_tokens: ExactJson; output_tokens: ExactJson } {
  const { prompt_tokens: read, completion_tokens: written, total_tokens: total } = usage;
  const asTold = { input_tokens: read, output_tokens: written };
  if (!Number.isInteger(read) || !Number.isInteger(total)) return asTold;
  const rest = Number(total) - Number(read);
  const cached = countOf(usage.cache_read_input_tokens) + countOf(usage.cache_creation_input_tokens);
  if (cached > 0 && rest === Number(written) + cached) return { ...asTold, input_tokens: Number(read) + cached };
  return rest >= Number(written ?? 0) ? { ...asTold, output_tokens: rest } : asTold;
}

function countOf(tokens: ExactJson): number {
  return Number.isInteger(tokens) ? Number(tokens) : 0;
}

/** What a gateway or xAI says that a call cost, in USD, where it tells all of it. */
function paidOf({ cost, is_byok: isByok, cost_details, cost_in_usd_ticks: ticks }: z.output<typeof Usage>): {
  cost_usd?: number;
} {
  if (cost === undefined) return ticks === undefined ? {} : { cost_usd: ticks / 1e10 };
  if (isByok !== true) return { cost_usd: cost };
  return cost_details === undefined ? {} : { cost_usd: cost + cost_details.upstream_inference_cost };
}

type Tool = NonNullable<Asked["task"]["tools"]>[number];

function functionNamesOf({ tools }: Pick<Asked["task"], "tools">): Map<string, string> {
  return functionNames((tools ?? []).map(({ name }) => name));
}

/** The schema of a tool's arguments with the two members that OpenAI demands, which a tool without arguments need not have. */
function parametersOf(schema: Tool["parameters"]): Record<string, unknown> {
  return { type: "object", properties: {}, ...(typeof schema === "object" && !Array.isArray(schema) ? schema : {}) };
}

/**
 * The API takes a schema only if its root is an object, servers only one of the keywords that they know (`isPlainSchema`), and
 * `json_object` would rule out a list where the prompt asks for one. Many servers pass over `response_format`, so a schema is
 * told in words as well (`formatInWords`): else their models would never see it. It is not `strict`: that would rule out every
 * schema with an optional property.
 */
function responseFormatOf({ output_format, output_schema: schema }: Job["task"]): Record<string, unknown> {
  if (output_format !== "json" || schema === null || !isPlainSchema(schema)) return {};
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } };
}

/**
 * The arguments that a model wrote as JSON text; the text itself if it is not JSON, or has more than all calls of an answer are
 * allowed together, so that the call is still graded. Groq writes null where a call has none.
 */
function argumentsOf(text: ExactJson, allowed: Allowed, mayBeNull: boolean): ExactJson {
  if (typeof text !== "string") return text ?? {};
  const written = text.trim();
  if (written === "" || (mayBeNull && written === "null")) return {};
  const parsed = parseJsonBounded(text, { exact: true, allowed });
  return parsed.ok ? AnswerJson.parse(parsed.value) : text;
}
