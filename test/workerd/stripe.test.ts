import { Stripe } from "stripe";
import { describe, expect, inject, it } from "vitest";
import { verifyEvent } from "../../shared/billing/receive.ts";
import { underKey, withProvider } from "../../shared/billing/stripe.ts";
import type { Env } from "../../shared/platform/env.ts";
import { createLogger } from "../../shared/platform/log.ts";

const NOW = new Date("2026-11-21T09:00:00.000Z");
const payments = inject("payments");
const env = { ...payments, STRIPE_WEBHOOK_SECRET: [payments["STRIPE_WEBHOOK_SECRET"]] } as unknown as Env;
const ctx = {
  env,
  // As the service has it: workerd refuses a fetch that is called as a method.
  fetch: ((input, init) => fetch(input, init)) satisfies typeof fetch,
  log: createLogger(
    () => undefined,
    () => NOW,
  ),
  now: () => NOW,
};

describe("the payment provider's SDK in the runtime of production", () => {
  it("makes and reads what is paid for, each thing once", async () => {
    const make = () =>
      withProvider(ctx, (stripe) =>
        underKey("customer-1", (options) => stripe.customers.create({ email: "a@example.test" }, options)),
      );
    const [one, other] = await Promise.all([make(), make()]);
    expect(other?.id).toBe(one?.id);
    const read = await withProvider(ctx, (stripe) => stripe.customers.retrieve(one?.id ?? ""));
    expect(read).toMatchObject({ object: "customer", email: "a@example.test" });
  });

  it("tells the log what the provider refuses, and the caller that the operator has to mend it", async () => {
    const lines: string[] = [];
    const log = createLogger(
      (line) => void lines.push(line),
      () => NOW,
    );
    const other = { ...ctx, env: { ...env, STRIPE_SECRET_KEY: "sk_test_other" }, log };
    const listing = withProvider(other, (stripe) => stripe.customers.list());
    await expect(listing).rejects.toMatchObject({ code: "payment_not_configured" });
    expect(lines.some((line) => /"level":"error".*Invalid API Key/.test(line))).toBe(true);
  });

  it("tells signed events from others", async () => {
    const payload = JSON.stringify({ id: "evt_1", type: "x", livemode: false, data: { object: {} } });
    const sign = (secret = "") =>
      Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp: NOW.getTime() / 1000 });
    const bytes = (text: string) => new TextEncoder().encode(text);
    const signature = await sign(payments["STRIPE_WEBHOOK_SECRET"]);
    expect(await verifyEvent(ctx, bytes(payload), signature)).toMatchObject({ id: "evt_1" });
    const refused = expect.objectContaining({ code: "invalid_signature" });
    await expect(verifyEvent(ctx, bytes(payload), await sign("whsec_other"))).rejects.toEqual(refused);
    await expect(verifyEvent(ctx, bytes(`${payload} `), signature)).rejects.toEqual(refused);
  });
});
