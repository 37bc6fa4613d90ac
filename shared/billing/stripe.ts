import type Stripe from "stripe";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { describeError } from "../db/client.ts";
import { Problem } from "../platform/problem.ts";

const TIMEOUT_MS = 8000;
const RETRY_AFTER_S = "10";

/** What the service asks the payment provider for: the client that is deployed has no others. */
export const PAYMENT_RESOURCES = [
  "accountLinks",
  "accounts",
  "billingPortal",
  "charges",
  "checkout",
  "customers",
  "disputes",
  "events",
  "invoices",
  "refunds",
  "subscriptions",
] as const satisfies readonly (keyof Stripe)[];

/** What verbs of the domain may ask the payment provider for. */
export type Payments = Pick<Stripe, (typeof PAYMENT_RESOURCES)[number]>;

/** The payment provider's SDK. It is evaluated when it is first needed: few requests need it. */
export async function loadStripe(): Promise<typeof Stripe> {
  return (await import("stripe")).default;
}

/**
 * Works with the payment provider. Every POST in `work` is made by `underKey`. Throws 503
 * `payment_not_configured` without a key, 503 `dependency_unavailable` where the provider does not answer or fails, 409
 * `payment_in_progress` while another request prepares the same thing, 402 `payment_failed` for a card that is refused. That
 * the provider does not know something is thrown as it is; what else it refuses, such as the key or a price, is for the
 * operator to mend: 503 `payment_not_configured`.
 */
export async function withProvider<T>(
  ctx: Pick<Context, "env" | "fetch" | "log">,
  work: (stripe: Payments) => Promise<T>,
): Promise<T> {
  const { STRIPE_SECRET_KEY: key, STRIPE_API_BASE: base } = ctx.env;
  if (key === undefined) {
    throw new Problem("payment_not_configured", "Payments are not set up here; the operator has to set a payment key.");
  }
  const Stripe = await loadStripe();
  const { fetch } = ctx;
  const stripe = new Stripe(key, {
    httpClient: Stripe.createFetchHttpClient((input, init) => fetch(input, init)),
    maxNetworkRetries: 1,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(base === undefined ? {} : hostOf(base)),
  });
  try {
    return await work(stripe);
  } catch (error) {
    throw error instanceof Stripe.errors.StripeError ? problemOf(ctx, Stripe, error) : error;
  }
}

/** The most keys under which one call is tried. */
const MAX_KEYS = 5;
/** As long as the provider keeps an answer, and a clock that is behind. */
const KEPT_S = 90_000;

/**
 * Makes a POST under an idempotency key. The provider keeps a failure as it keeps a result, for a day: where the answer is
 * a failure that it only repeats, the call is made under the next key, which is the same for all who ask. With `redis` it is
 * noted how far the keys are used up by what the provider refused: then another call, too, goes on behind these.
 */
export async function underKey<T>(
  key: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
  redis?: Context["redis"],
): Promise<T> {
  const note = `refused:${key}`;
  for (let turn = 1, tries = 1; ; tries += 1) {
    try {
      return await call({ idempotencyKey: turn === 1 ? key : `${key}-${turn}` });
    } catch (error) {
      const isKept = isRepeated(error);
      const isOther = error instanceof Error && "type" in error && error.type === "StripeIdempotencyError";
      const isHeld = isKept || isOther;
      if (isRefusal(error) && !isHeld) await redis?.set(note, turn, { ex: KEPT_S }).catch(() => null);
      const used = isHeld ? Number(await redis?.get(note).catch(() => 0)) || 0 : 0;
      if (tries === MAX_KEYS || !(isKept || used >= turn)) throw error;
      turn = Math.max(turn, used) + 1;
    }
  }
}

/** Whether the provider refused what was asked, and was not just busy with it. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "statusCode" in error && (error.statusCode === 400 || error.statusCode === 403);
}

const Repeated = z.object({ headers: z.object({ "idempotent-replayed": z.literal("true") }) });

function isRepeated(error: unknown): boolean {
  return Repeated.safeParse(error).success;
}

/** Codes by which the provider says that it has no such thing, or that a seller's account is no longer connected to ours. */
const MISSING: ReadonlySet<unknown> = new Set(["resource_missing", "account_invalid"]);

/** Whether the provider refused a call because it does not know what the call is about, or no longer. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && MISSING.has(error.code);
}

/** What a call gives; null where the provider does not know what it is about. */
export async function ifKnown<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * What a call gives that names the account's address; where the provider takes that for none, since its rules are narrower than
 * ours, what it gives without (`isRefused`): the provider's page then asks for one.
 */
export async function withAddress<T>(call: (isRefused: boolean) => Promise<T>): Promise<T> {
  try {
    return await call(false);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "email_invalid")) throw error;
    return call(true);
  }
}

/** The id of what the provider gives either as an id or as the whole object; null for nothing. */
export function idOf(reference: string | { id: string } | null): string | null {
  return typeof reference === "string" ? reference : (reference?.id ?? null);
}

function hostOf(base: string): { host: string; port: string; protocol: "http" | "https" } {
  const { hostname, port, protocol } = new URL(base);
  return { host: hostname, port, protocol: protocol === "http:" ? "http" : "https" };
}

function problemOf(ctx: Pick<Context, "log">, { errors }: typeof Stripe, error: Stripe.errors.StripeError): Error {
  if (error instanceof errors.StripeCardError) {
    return new Problem("payment_failed", "The card was refused, and nothing was charged; try again with another one.");
  }
  if (error instanceof errors.StripeIdempotencyError || error.code === "idempotency_key_in_use") {
    return new Problem("payment_in_progress", "Another request is preparing the same payment; try again in a moment.", {
      headers: { "Retry-After": "2" },
    });
  }
  ctx.log.warn("the payment provider failed", {
    type: error.type,
    provider_code: error.code,
    detail: describeError(error),
  });
  // By the status as well: what answers in the provider's place does not do so in its form.
  const isOutage =
    error instanceof errors.StripeConnectionError ||
    error instanceof errors.StripeAPIError ||
    error instanceof errors.StripeRateLimitError ||
    error.statusCode === 429;
  if (!isOutage) return isMissing(error) && !namesPrice(error) ? error : setUpWrong(ctx, error);
  return new Problem(
    "dependency_unavailable",
    "The payment provider does not answer; nothing was changed here. Try again.",
    {
      headers: { "Retry-After": RETRY_AFTER_S },
    },
  );
}

/** Whether a parameter was refused that is a price, which none but a setting names. */
function namesPrice({ param }: Stripe.errors.StripeError): boolean {
  return param?.includes("[price]") === true;
}

/** The 503 for what only the operator can mend, at the provider or in the settings, and finds in the log as an error. */
function setUpWrong(ctx: Pick<Context, "log">, { message, param }: Stripe.errors.StripeError): Problem {
  ctx.log.error("the payment provider refuses how payments are set up here", { said: message, param });
  return new Problem(
    "payment_not_configured",
    "The payment provider refuses how payments are set up here, and nothing was changed; tell the operator, whose log says why.",
  );
}
