import { createFinalURL, createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import type { paths } from "./generated/service.ts";
import { errorOf } from "./problem.ts";
import type { Send } from "./retry.ts";

type Body<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer B } } } };
}
  ? B
  : never;

/** Lists that come whole, in one answer. */
const WHOLE = ["/api/v1/runs/{run_id}/phases", "/api/v1/runs/{run_id}/spans"] as const satisfies (keyof paths)[];

/** The paths that give a list, in pages or whole. */
export type ListPath = {
  [P in keyof paths]: Body<P> extends { items: unknown[]; page_size: number }
    ? P
    : P extends (typeof WHOLE)[number]
      ? P
      : never;
}[keyof paths];

/** What a list holds. */
export type ItemOf<P extends ListPath> = Body<P> extends { items: (infer T)[] } ? T : never;

type Parameters<P extends keyof paths> = paths[P] extends { get: { parameters: infer Q } } ? Q : never;

/** The filters of a list, and what its path names. */
export type ListOptions<P extends ListPath> = Pick<Parameters<P>, keyof Parameters<P> & ("query" | "path")> & {
  signal?: AbortSignal;
};

/** What stands in a path and behind it. */
export interface Place {
  path?: unknown;
  query?: unknown;
}

/** The address of a path of the interface. */
export function urlOf(baseUrl: string, path: string, { path: params = {}, query = {} }: Place): string {
  const querySerializer = createQuerySerializer();
  const pathSerializer = defaultPathSerializer;
  return createFinalURL(path, {
    baseUrl,
    params: { path: { ...objectOf(params) }, query: { ...objectOf(query) } },
    querySerializer,
    pathSerializer,
  });
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

interface Listed<T> {
  items: T[];
  next_cursor?: string | null;
}

const LARGEST_PAGE = 100;

/** The `each` of a client. */
export function lister(baseUrl: string, send: Send) {
  return async function* each<P extends ListPath>(path: P, options?: ListOptions<P>): AsyncGenerator<ItemOf<P>, void> {
    const { signal, ...place }: Place & { signal?: AbortSignal } = options ?? {};
    const size = WHOLE.some((one) => one === path) ? {} : { page_size: LARGEST_PAGE };
    const query = { ...size, ...objectOf(place.query) };
    let url: URL | null = new URL(urlOf(baseUrl, path, { ...place, query }));
    while (url !== null) {
      const response = await send(new Request(url, signal === undefined ? {} : { signal }));
      if (!response.ok) throw await errorOf(response);
      // The service's own JSON, as its description has it.
      const body: Listed<ItemOf<P>> = JSON.parse(await response.text());
      yield* body.items;
      url = nextOf(url, body.next_cursor, response.headers.get("link"));
    }
  };
}

/** Where a list goes on: after its cursor where it was asked for by one, else where its `Link` says. */
function nextOf(url: URL, cursor: string | null | undefined, link: string | null): URL | null {
  if (cursor === null) return null;
  const next = new URL(url);
  if (cursor !== undefined) {
    next.searchParams.set("cursor", cursor);
    return next;
  }
  const [, target] = /<([^>]*)>;\s*rel="next"/.exec(link ?? "") ?? [];
  if (target === undefined) return null;
  // Its query alone, so that a link never leads the credentials to another host.
  next.search = new URL(target, url).search;
  return next;
}
