import * as z from "zod";
import { parseJsonBounded } from "../../platform/outbound/json.ts";
import { excerpt } from "./reading.ts";

const Words = z.string().trim().min(1);

const Misfit = z
  .object({ loc: z.array(z.union([z.string(), z.number()])), msg: Words })
  .transform(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
const Detail = z.object({ detail: z.tuple([Misfit], z.unknown()) }).transform(({ detail: [said] }) => said);

/**
 * Where servers say in JSON what was wrong: OpenAI and what is compatible, whose error is a `message` beside others, Ollama,
 * vLLM, Lambda, Supabase, Mistral, FastAPI, RFC 9457, Cloudflare, which has a list of errors.
 */
function bodyOf(message: z.ZodType<string>) {
  const told = z.union([message.pipe(Words), Words]);
  const first = z.tuple([told], z.unknown()).transform(([said]) => said);
  return z.union([
    Words,
    z.object({ error: z.union([told, first]) }).transform(({ error }) => error),
    z.object({ message: z.union([Words, Detail]) }).transform((body) => body.message),
    z.object({ Message: Words }).transform(({ Message }) => Message),
    z.object({ msg: Words }).transform(({ msg }) => msg),
    z.object({ detail: Words }).transform(({ detail }) => detail),
    Detail,
    z.object({ title: Words }).transform(({ title }) => title),
    z.object({ errors: z.union([told, first]) }).transform(({ errors }) => errors),
  ]);
}

/** What the provider of a model said, behind OpenRouter: one within it is not looked for, else they could nest without end. */
const ProvidersBody = bodyOf(z.object({ message: Words }).transform(({ message }) => message));

/**
 * An error as OpenAI writes it. That of OpenRouter has words of its own, "Provider returned error", and beside them what the
 * provider of the model said.
 */
export const ErrorMessage = z
  .object({ message: z.string(), metadata: z.object({ raw: z.unknown() }).optional().catch(undefined) })
  .transform(({ message, metadata }) => {
    const raw = metadata?.raw;
    const said = typeof raw === "string" ? wordsIn(raw, ProvidersBody) : ProvidersBody.safeParse(raw).data;
    return [message, said].filter(Boolean).join(": ");
  });

const OneBody = bodyOf(ErrorMessage);

/** Gemini's compatible endpoint puts it in a list. */
const ErrorBody = z.union([OneBody, z.tuple([OneBody], z.unknown()).transform(([said]) => said)]);

const TITLE = /<title[^<>]*>([^<]{1,500})<\/title/i;

/**
 * What the body of an answer with an error says was wrong, cut to an excerpt: by the member for it, by the title of a page, or
 * as a text. Empty where it says nothing that a person could read.
 * @example
 * errorWords(Buffer.from('{"error":{"message":"The model `default` does not exist."}}')) // "The model `default` does not exist."
 */
export function errorWords(body: Uint8Array): string {
  return wordsIn(new TextDecoder().decode(body), ErrorBody);
}

function wordsIn(text: string, body: z.ZodType<string>): string {
  const json = parseJsonBounded(text);
  if (json.ok) return excerpt(body.safeParse(json.value).data ?? "");
  const title = TITLE.exec(text)?.[1];
  if (title !== undefined) return excerpt(title.trim());
  return json.reason !== "not_json" || /^\s*[<{[]|\uFFFD/.test(text) ? "" : excerpt(text);
}
