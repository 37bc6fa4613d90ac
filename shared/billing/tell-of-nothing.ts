import type { Context } from "../platform/context.ts";

/** What somebody may pay for. */
type Paid = "certification" | "purchase" | "subscription";

/** Tells the operator of a payment that gave its buyer nothing: only by hand it is paid back. `where` finds it at the provider. */
export function tellOfNothing(
  ctx: Pick<Context, "log">,
  what: Paid,
  id: string | null,
  where: Record<string, string | null>,
): void {
  ctx.log.error(`a ${what} was paid that gave its buyer nothing: pay it back`, { [`${what}_id`]: id, ...where });
}
