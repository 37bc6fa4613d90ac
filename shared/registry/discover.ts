import type * as z from "zod";
import { assertCallable } from "../agents/endpoint.ts";
import { Problem } from "../platform/problem.ts";
import { fetchDocument, type Outside } from "./document.ts";
import { readManifest } from "./manifest.ts";
import type { Discovery, ManifestError } from "./schemas.ts";
import { sameSite } from "./site.ts";

/** Where a host serves its manifest: ours, which early A2A servers use for their card too, and that of A2A. */
const PATH = "/.well-known/agent.json";
const CARD_PATH = "/.well-known/agent-card.json";

/**
 * Whether a manifest lies where a host serves its own. What lies elsewhere on a domain may be by anybody whom its owner lets
 * upload files.
 */
export function isWellKnown(manifestUrl: string): boolean {
  const { pathname } = new URL(manifestUrl);
  return pathname === PATH || pathname === CARD_PATH;
}

/** Milliseconds for all that is fetched. */
const DEADLINE_MS = 5000;

/** What is found at the address of a manifest. */
export type Found = Omit<z.output<typeof Discovery>, "url">;

/**
 * Looks for the manifest of the host that a URL names, and checks it; where the first place has none, or a file of
 * another form by the same name, a second is asked.
 * Throws `endpoint_not_allowed` for a URL that may not be called, and `ResolverFault` where our resolver can't tell whether
 * it, or one that it leads to, may be. Whatever else is wrong is in the result.
 */
export async function discover(
  outside: Outside,
  raw: string,
  deadlineMs: number = DEADLINE_MS,
): Promise<z.output<typeof Discovery>> {
  const url = await assertCallable(outside, raw, "/url");
  const deadline = new Date(outside.now().getTime() + deadlineMs);
  const first = await look(outside, new URL(PATH, url).href, deadline);
  if (first.valid) return { url, ...first };
  const second = await look(outside, new URL(CARD_PATH, url).href, deadline);
  if (second.valid) return { url, ...second };
  if (!isMissing(first)) return { url, ...first };
  if (!isMissing(second)) return { url, ...second };
  return { url, ...first, errors: [...first.errors, ...second.errors] };
}

/** Looks at one address for a manifest until `deadline`, and checks it. Throws `ResolverFault`. */
export async function look(
  outside: Outside,
  manifestUrl: string,
  deadline: Date = new Date(outside.now().getTime() + DEADLINE_MS),
): Promise<Found> {
  const document = await fetchDocument(outside, manifestUrl, deadline);
  if ("value" in document) return checkManifest(outside, manifestUrl, document.value);
  const { error } = document;
  return invalid(manifestUrl, "native", [{ ...error, message: `${manifestUrl}: ${error.message}` }]);
}

/** Whether there is no manifest at all: then the error points to no part of it. */
function isMissing({ errors }: Found): boolean {
  return errors.some(({ pointer }) => pointer === "");
}

/** Checks a manifest: it is valid when its URLs may be called and its endpoint lies on the manifest's own registrable domain. */
async function checkManifest(outside: Outside, manifest_url: string, value: Record<string, unknown>): Promise<Found> {
  const { kind, result } = readManifest(value);
  if ("errors" in result) return invalid(manifest_url, kind, result.errors);
  const { manifest, endpointAt } = result;
  const errors: ManifestError[] = [];
  const callable = async (raw: string, pointer: string): Promise<string> => {
    try {
      return await assertCallable(outside, raw, pointer);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "endpoint_not_allowed") throw error;
      errors.push({ pointer, code: "endpoint_not_allowed", message: error.message });
      return raw;
    }
  };
  const endpoint = await callable(manifest.endpoint, endpointAt);
  const provider = manifest.provider_url;
  const urls = provider === undefined ? {} : { provider_url: await callable(provider, "/provider_url") };
  if (errors.length === 0 && !sameSite(new URL(endpoint), new URL(manifest_url))) {
    const message =
      "Put the endpoint on the registrable domain that serves the manifest, or the manifest on the endpoint's.";
    errors.push({ pointer: endpointAt, code: "foreign_domain", message });
  }
  if (errors.length > 0) return invalid(manifest_url, kind, errors);
  return { manifest_url, kind, valid: true, errors, manifest: { ...manifest, ...urls, endpoint } };
}

function invalid(manifest_url: string, kind: Found["kind"], errors: z.output<typeof Discovery>["errors"]): Found {
  return { manifest_url, kind, valid: false, errors, manifest: null };
}
