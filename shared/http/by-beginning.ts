import type { Result, Router } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";

/** How many names at the beginning of a path tell which routes can fit it: `/api/v1/agents` those of one resource. */
const NAMES = 3;

/** A route as it was added. */
type Added<Handler> = [nth: number, method: string, path: string, handler: Handler];

/**
 * Hono's router of a trie, the one of its routers that takes names and parameters in the same places of paths. It is made of
 * the routes alone that can fit a path, with the first request for one like it: to take hundreds of routes in takes longer
 * than all else that a start does with them.
 */
export class ByBeginning<Handler> implements Router<Handler> {
  readonly name = "ByBeginning";
  #count = 0;
  /** The routes whose paths begin with these names and no more, up to NAMES of them. */
  readonly #added = new Map<string, Added<Handler>[]>();
  /** By the beginnings of routes, so that no request makes one more. */
  readonly #tries = new Map<string, TrieRouter<Handler>>();

  add(method: string, path: string, handler: Handler): void {
    const beginning = beginningsOf(path).at(-1) ?? "";
    const added: Added<Handler> = [this.#count, method, path, handler];
    const others = this.#added.get(beginning);
    if (others === undefined) this.#added.set(beginning, [added]);
    else others.push(added);
    this.#count += 1;
    this.#tries.clear();
  }

  match(method: string, path: string): Result<Handler> {
    const known = beginningsOf(path).filter((beginning) => this.#added.has(beginning));
    const longest = known.at(-1) ?? "";
    let trie = this.#tries.get(longest);
    if (trie === undefined) {
      trie = new TrieRouter();
      // In the order in which they were added: the first one that fits serves a request.
      const routes = known.flatMap((beginning) => this.#added.get(beginning) ?? []).toSorted(([a], [b]) => a - b);
      for (const [, ...route] of routes) trie.add(...route);
      this.#tries.set(longest, trie);
    }
    return trie.match(method, path);
  }
}

/**
 * What a path begins with, from nothing on: its names up to NAMES of them, before the first that is none.
 *
 * @example beginningsOf("/api/v1/runs/7") // ["", "/api", "/api/v1", "/api/v1/runs"]
 * @example beginningsOf("/agents/:id/runs") // ["", "/agents"]
 */
function beginningsOf(path: string): string[] {
  const beginnings = [""];
  let end = 0;
  while (beginnings.length <= NAMES && end < path.length) {
    const next = path.indexOf("/", end + 1);
    end = next < 0 ? path.length : next;
    const beginning = path.slice(0, end);
    if (/[:*]/.test(beginning)) break;
    beginnings.push(beginning);
  }
  return beginnings;
}
