import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";

/** Whether an event is of one of these types, and so about an object of theirs. */
export function isEventOf<Type extends Stripe.Event.Type>(
  types: readonly Type[],
  event: Stripe.Event,
): event is Extract<Stripe.Event, { type: Type }> {
  return types.some((type) => type === event.type);
}

/**
 * What a part of the service does about events of the payment provider. An event says that something changed, but not how
 * it is now: `take` reads the object at the provider again, so that repeated, late and reordered events end in the same
 * state. It ignores objects that are not its own, may be called many times at once for one event, and throws what should
 * be tried again. It need not catch the error for an object that the provider no longer knows: such an event is over.
 */
export interface EventTaker {
  types: ReadonlySet<Stripe.Event.Type>;
  /** Takes events of connected accounts too; what else happens there is the sellers' own business. */
  takesConnected?: boolean;
  take(ctx: Context, event: Stripe.Event): Promise<void>;
}
