import * as z from "zod";
import { parseJsonBounded } from "../../platform/outbound/json.ts";
import { excerpt } from "./reading.ts";

const Words = z.string().trim().min(1);

/** Where servers say in JSON what was wrong: OpenAI and what is compatible, Ollama, vLLM, RFC 9457, FastAPI. */
const ErrorBody = z.union([
  Words,
  z.object({ error: z.object({ message: Words }) }).transform(({ error }) => error.message),
  z.object({ error: Words }).transform(({ error }) => error),
  z.object({ message: Words }).transform(({ message }) => message),
  z.object({ detail: Words }).transform(({ detail }) => detail),
  z
    .object({
      detail: z.tuple([z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: Words })], z.unknown()),
    })
    .transform(({ detail: [{ loc, msg }] }) => `${loc.join(".")}: ${msg}`),
]);

/**
 * What the body of an answer with an error says was wrong, cut to an excerpt: by the member for it, or as a text. Empty where
 * it says nothing that a person could read, as a page of HTML does.
 * @example
 * errorWords(Buffer.from('{"error":{"message":"The model `default` does not exist."}}')) // "The model `default` does not exist."
 */
export function errorWords(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  const json = parseJsonBounded(text);
  if (json.ok) return excerpt(ErrorBody.safeParse(json.value).data ?? "");
  return json.reason !== "not_json" || /^\s*[<{[]|\uFFFD/.test(text) ? "" : excerpt(text);
}
