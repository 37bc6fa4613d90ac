import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";

/**
 * What a part of the service does about events of the payment provider. An event says that something changed, never what
 * is: `take` reads the object at the provider again, so that repeated, late and reordered events end in the same state.
 * It ignores objects that are not its own, may be called many times at once for one event, and throws what should be
 * tried again. What the provider does not know any more it may throw as it comes: such an event is over.
 */
export interface EventTaker {
  types: ReadonlySet<Stripe.Event.Type>;
  /** Takes events of connected accounts too; what else happens there is the sellers' own business. */
  takesConnected?: boolean;
  take(ctx: Context, event: Stripe.Event): Promise<void>;
}
