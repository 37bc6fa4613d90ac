import { ifKnown, type Payments, underKey } from "./stripe.ts";

/** Ends a page at the provider, so that nobody can pay there any more. Returns whether it had just been paid. */
export async function closePage(stripe: Payments, sessionId: string): Promise<{ isPaid: boolean }> {
  try {
    await underKey(`expire-${sessionId}`, (options) => stripe.checkout.sessions.expire(sessionId, {}, options));
    return { isPaid: false };
  } catch (error) {
    // Only an open page can be ended: another request, its time or a payment may have been first.
    const session = await ifKnown(stripe.checkout.sessions.retrieve(sessionId));
    if (session?.status === "open") throw error;
    return { isPaid: session?.status === "complete" };
  }
}
