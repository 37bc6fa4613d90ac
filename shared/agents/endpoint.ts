import type { Context } from "../platform/context.ts";
import { assertPublic } from "../platform/outbound/resolve.ts";
import { checkUrl, isLoopback, outboundPolicy } from "../platform/outbound/url.ts";
import { bodyProblem } from "../platform/problem.ts";

/**
 * The normal form of a URL that the service will call later; throws `endpoint_not_allowed` unless it is allowed by its
 * text and by every address of its name, and `ResolverFault` where these can't be known. It is judged again at every
 * call.
 */
export async function assertCallable(
  ctx: Pick<Context, "env" | "resolver">,
  raw: string,
  pointer: string,
): Promise<string> {
  const checked = checkUrl(raw, outboundPolicy(ctx.env));
  if (!checked.ok) throw bodyProblem("endpoint_not_allowed", pointer, checked.message);
  if (!isLoopback(checked.url)) {
    const named = await assertPublic(checked.url.hostname, ctx.resolver);
    if (!named.ok) throw bodyProblem("endpoint_not_allowed", pointer, named.message);
  }
  return checked.url.href;
}
