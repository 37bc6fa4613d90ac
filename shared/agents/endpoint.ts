import type { Context } from "../platform/context.ts";
import { isLoopback, outboundPolicy } from "../platform/outbound/policy.ts";
import { assertPublic } from "../platform/outbound/resolve.ts";
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
  // With it comes the list of public suffixes, which reads of agents and of much else can do without.
  const { checkUrl } = await import("../platform/outbound/url.ts");
  const checked = checkUrl(raw, outboundPolicy(ctx.env));
  if (!checked.ok) throw bodyProblem("endpoint_not_allowed", pointer, checked.message);
  if (!isLoopback(checked.url)) {
    const named = await assertPublic(checked.url.hostname, ctx.resolver);
    if (!named.ok) throw bodyProblem("endpoint_not_allowed", pointer, named.message);
  }
  return checked.url.href;
}
