import type { Context } from "../platform/context.ts";
import { exchange, userAgent } from "../platform/outbound/exchange.ts";
import { parseJsonBounded, TOO_MANY_VALUES } from "../platform/outbound/json.ts";
import { outboundPolicy } from "../platform/outbound/policy.ts";
import { isStorable } from "../platform/text.ts";
import type { ManifestError } from "./schemas.ts";
import { sameSite } from "./site.ts";

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];

/** What is needed to look for a manifest. */
export type Outside = Pick<Context, "env" | "fetch" | "now" | "resolver">;

/** A JSON object from the web that can be stored, or why there is none. */
export type Document = { value: Record<string, unknown> } | { error: ManifestError };

/**
 * Fetches a JSON object of at most 64 KiB and 16 levels until `deadline`, over at most three redirects within one
 * registrable domain, each checked like the first URL. Throws nothing but `ResolverFault`.
 */
export async function fetchDocument(outside: Outside, address: string, deadline: Date): Promise<Document> {
  const { env, fetch, now, resolver } = outside;
  let url = address;
  let until = deadline.getTime();
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const answer = await exchange(
      {
        url,
        method: "GET",
        headers: { Accept: "application/json", "User-Agent": userAgent(env) },
        deadlineMs: Math.max(1, until - now().getTime()),
        maxResponseBytes: MAX_BYTES,
        takesRedirects: true,
      },
      { fetch, now, resolver, policy: outboundPolicy(env) },
    );
    // Our own lookups take nothing of the other side's time.
    until += answer.lookup_ms;
    if (!answer.ok) {
      const code = answer.failure_code === "endpoint_not_allowed" ? answer.failure_code : "not_fetched";
      return failed(code, answer.detail);
    }
    if (!REDIRECTS.includes(answer.status)) return read(answer.status, answer.body);
    const target = URL.parse(answer.headers.get("location") ?? "", url);
    if (target === null) return failed("not_fetched", "The answer is a redirect without a valid Location.");
    if (!sameSite(target, new URL(address))) {
      return failed("foreign_domain", "The answer is a redirect to another domain. Serve the manifest on its own.");
    }
    url = target.href;
  }
  return failed("not_fetched", `There are more than ${MAX_REDIRECTS} redirects. Serve the manifest at its address.`);
}

function read(status: number, body: Uint8Array): Document {
  if (status !== 200) return failed("not_fetched", `The HTTP status is ${status}; 200 is expected.`);
  const json = parseJsonBounded(new TextDecoder().decode(body), { maxDepth: MAX_DEPTH });
  if (!json.ok && json.reason === "too_deep") return failed("not_json", `Nest at most ${MAX_DEPTH} levels.`);
  if (!json.ok && json.reason === "too_many") return failed("not_json", TOO_MANY_VALUES);
  if (!json.ok || !isObject(json.value)) {
    return failed("not_json", "The answer is not a JSON object; serve the manifest as one.");
  }
  if (!storable(json.value)) return failed("invalid_field", "Remove U+0000 and lone surrogates.");
  return { value: json.value };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function failed(code: ManifestError["code"], message: string): Document {
  return { error: { pointer: "", code, message } };
}

/** Whether the database can hold all text in a value. */
function storable(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, child]) => isStorable(key) && storable(child));
}
