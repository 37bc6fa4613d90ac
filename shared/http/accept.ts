import type { Context as HonoContext } from "hono";
import { parseAccept } from "hono/utils/accept";

/**
 * Which of these media types `Accept` wants most (RFC 9110 section 12.5.1): the first where any will do, one that is named
 * before one that a range fits, and null where none is acceptable.
 */
export function preferred(c: HonoContext, [first, ...others]: readonly [string, ...string[]]): string | null {
  const accept = c.req.header("accept");
  if (accept === undefined || accept.trim() === "") return first;
  const ranges = parseAccept(accept);
  const find = (range: string) => ranges.find(({ type }) => type.toLowerCase() === range)?.q;
  const wanted = (type: string) => {
    const named = find(type);
    const q = named ?? find(type.replace(/\/.*/, "/*")) ?? find("*/*") ?? 0;
    return { type, q, named: named !== undefined };
  };
  const best = others
    .map(wanted)
    .reduce(
      (found, other) =>
        other.q > found.q || (other.q === found.q && other.named && found.type === first) ? other : found,
      wanted(first),
    );
  return best.q === 0 ? null : best.type;
}
