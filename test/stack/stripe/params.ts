import * as z from "zod";

/** What the provider answers instead of doing something. `body` is its error object. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly body: { type: string; code?: string; param?: string; decline_code?: string; message: string };
  /** Whether the call itself was wrong, as against what it asked for at that moment. */
  readonly isMistake: boolean;

  constructor(
    status: number,
    body: { type?: string; code?: string; param?: string; decline_code?: string; message: string },
    isMistake = false,
  ) {
    super(body.message);
    this.status = status;
    this.body = { type: "invalid_request_error", ...body };
    this.isMistake = isMistake;
  }
}

/** A parameter that is not there, at `param` of the call, or in its path. */
export function noSuch(noun: string, id: string, param: string, status = 400): StripeRefusal {
  return new StripeRefusal(status, { code: "resource_missing", param, message: `No such ${noun}: '${id}'` }, true);
}

/** Parameters as a tree: every leaf is text. */
export type Params = Record<string, unknown>;

type Node = string | Map<string, Node>;

/** Reads form-encoded parameters: `a[b][0][c]=x` and `a[]=x` nest. A later value of the same name wins. */
export function parseParams(form: string): Params {
  const root = new Map<string, Node>();
  for (const [key, value] of new URLSearchParams(form)) {
    const path = [/^[^[]*/.exec(key)?.[0] ?? "", ...[...key.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? "")];
    let node = root;
    for (const [depth, step] of path.entries()) {
      const name = step === "" && depth > 0 ? String(node.size) : step;
      if (depth === path.length - 1) {
        node.set(name, value);
        break;
      }
      const inner = node.get(name);
      const next: Map<string, Node> = inner instanceof Map ? inner : new Map();
      node.set(name, next);
      node = next;
    }
  }
  return Object.fromEntries([...root].map(([name, node]) => [name, plain(node)]));
}

function plain(node: Node): unknown {
  if (typeof node === "string") return node;
  const entries = [...node].map(([name, inner]) => [name, plain(inner)] as const);
  return entries.every(([name]) => /^\d+$/.test(name))
    ? entries.map(([, value]) => value)
    : Object.fromEntries(entries);
}

/** The parameters as `schema` reads them. @throws the refusal of the first that is unknown, missing or malformed. */
export function checkParams<T>(schema: z.ZodType<T>, params: Params): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const issues = result.error.issues;
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...unknown].map(String);
  const param = path.map((step, depth) => (depth === 0 ? step : `[${step}]`)).join("");
  const value = path.reduce<unknown>((node, step) => (node as Params | undefined)?.[step], params);
  const refuse = (code: string | undefined, message: string) =>
    new StripeRefusal(400, { ...(code === undefined ? {} : { code }), param, message }, true);
  if (unknown.length > 0) throw refuse("parameter_unknown", `Received unknown parameter: ${param}`);
  if (value === undefined) throw refuse("parameter_missing", `Missing required param: ${param}.`);
  if (value === "") throw refuse("parameter_invalid_empty", `You passed an empty string for '${param}'.`);
  throw refuse(
    issue?.message.startsWith("parameter_") ? issue.message : undefined,
    `Invalid ${param}: ${JSON.stringify(value)}`,
  );
}

/** Kinds of parameters, as they stand in a form. */
export const text = z.string().min(1).max(5000);
/** A whole number of at least zero. */
export const count = z.string().regex(/^\d+$/, "parameter_invalid_integer").transform(Number);
/** `true` or `false`. */
export const flag = z.enum(["true", "false"]).transform((value) => value === "true");
/** A time in seconds; empty to have none any more. */
export const instantOrNone = count.or(z.literal("").transform(() => null));
/** An absolute web address; the templates of Checkout may stand in it. */
export const address = z
  .string()
  .max(5000)
  .regex(/^https?:\/\/\S+$/, "url_invalid");
/** Up to 50 names of 40 characters with values of 500. */
export const metadata = z
  .record(z.string().max(40), z.string().max(500))
  .refine((value) => Object.keys(value).length <= 50)
  .or(z.literal("").transform((): Record<string, string> => ({})));
const instant = z.strictObject({ gt: count, gte: count, lt: count, lte: count }).partial();
/** What every list takes. */
export const paging = {
  limit: count.refine((value) => value >= 1 && value <= 100).optional(),
  starting_after: text.optional(),
  ending_before: text.optional(),
};
/** What lists of things with a time of creation take. */
export const creation = { created: instant.or(count.transform((at) => ({ gte: at, lte: at }))).optional() };
