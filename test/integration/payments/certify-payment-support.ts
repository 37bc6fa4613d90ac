import type Stripe from "stripe";
import type { User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import { buy } from "./certify-support.ts";

/** A checkout of a certification that can be paid. */
export interface Open {
  id: string;
  session: string;
  url: string;
}

/** Opens a checkout for an agent, with what its row then says. */
export async function openCheckout(service: TestService, owner: User, agent: string): Promise<Open> {
  const { status, body, text } = await buy(owner, agent);
  if (status !== 200) throw new Error(text);
  const [row] = await service.sql<{ checkout_session_id: string }>(
    "select checkout_session_id from certifications where id = $1",
    [body.certification_id],
  );
  return { id: body.certification_id, session: row?.checkout_session_id ?? "", url: body.url };
}

/** The Idempotency-Keys of the checkout sessions that the provider has for an agent. */
export const sessionKeys = (service: TestService, agent: string): string[] =>
  service.stripe.requests
    .filter(({ method, path, status }) => method === "POST" && path.endsWith("checkout/sessions") && status === 200)
    .filter(({ params }) => String(params["success_url"]).includes(agent))
    .map(({ idempotencyKey }) => idempotencyKey ?? "none");

/** Pays a checkout; returns the event of it and what was paid. */
export function payCheckout(service: TestService, session: string): { completed: Stripe.Event; paymentIntent: string } {
  const [completed] = service.stripe.pay(session).filter(({ type }) => type === "checkout.session.completed");
  if (completed === undefined) throw new Error("nothing was paid");
  return { completed, paymentIntent: (completed.data.object as Stripe.Checkout.Session).payment_intent as string };
}

/** Does `work` while QStash takes nothing, so that runs wait for nobody. */
export async function holdQueue(service: TestService, work: () => Promise<unknown>): Promise<void> {
  service.faults.set({ service: "qstash", mode: "error" });
  await work();
  await service.settled();
  await releaseQueue(service);
}

/** Has QStash take messages again, without those that waited. */
export async function releaseQueue(service: TestService): Promise<void> {
  await service.sql("delete from outbox");
  service.faults.set({ service: "qstash", mode: "none" });
}

/** Delivers an event; resolves to the status of the answer. */
export const deliverEvent = async (service: TestService, event: Stripe.Event): Promise<number> =>
  (await service.stripe.deliver(event)).status;

/** The ids of an agent's certifications. */
export const certificationsOf = (service: TestService, agent: string) =>
  service.sql("select id from certifications where agent_id = $1", [agent]);

/** How many screenings for its certification an agent has had. */
export const screeningsOf = async (service: TestService, agent: string): Promise<number> =>
  (await service.sql("select from screening_sessions where agent_id = $1 and trigger = 'certification'", [agent]))
    .length;
