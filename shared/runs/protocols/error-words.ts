import * as z from "zod";
import { parseJsonBounded } from "../../platform/outbound/json.ts";
import { excerpt } from "./reading.ts";

const Words = z.string().trim().min(1);

/** Where servers say in JSON what was wrong: OpenAI and what is compatible, Ollama, vLLM, Lambda, Supabase, FastAPI, RFC 9457. */
const ErrorBody = z.union([
  Words,
  z.object({ error: z.object({ message: Words }) }).transform(({ error }) => error.message),
  z.object({ error: Words }).transform(({ error }) => error),
  z.object({ message: Words }).transform(({ message }) => message),
  z.object({ Message: Words }).transform(({ Message }) => Message),
  z.object({ msg: Words }).transform(({ msg }) => msg),
  z.object({ detail: Words }).transform(({ detail }) => detail),
  z
    .object({
      detail: z.tuple([z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: Words })], z.unknown()),
    })
    .transform(({ detail: [{ loc, msg }] }) => `${loc.join(".")}: ${msg}`),
  z.object({ title: Words }).transform(({ title }) => title),
]);

const TITLE = /<title[^<>]*>([^<]{1,500})<\/title/i;

/**
 * What the body of an answer with an error says was wrong, cut to an excerpt: by the member for it, by the title of a page, or
 * as a text. Empty where it says nothing that a person could read.
 * @example
 * errorWords(Buffer.from('{"error":{"message":"The model `default` does not exist."}}')) // "The model `default` does not exist."
 */
export function errorWords(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  const json = parseJsonBounded(text);
  if (json.ok) return excerpt(ErrorBody.safeParse(json.value).data ?? "");
  const title = TITLE.exec(text)?.[1];
  if (title !== undefined) return excerpt(title.trim());
  return json.reason !== "not_json" || /^\s*[<{[]|\uFFFD/.test(text) ? "" : excerpt(text);
}
