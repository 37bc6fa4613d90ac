import type Stripe from "stripe";
import * as z from "zod";
import { StripeRefusal, text } from "./params.ts";
import { type Page, pageOf, type Store } from "./store.ts";
import type { Mood } from "./subscriptions.ts";

/** What the routes work on. */
export interface Account {
  readonly store: Store;
  readonly mood: Mood;
}

/** One operation of the API. `run` gets the id in its path. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly params: z.ZodType<{ expand?: string[] | undefined }>;
  run(account: Account, id: string, params: never): object;
}

/** Declares the operation `METHOD path` with its own parameters; `expand` is one of all. */
export function route<S extends z.ZodRawShape>(
  line: string,
  shape: S,
  run: (account: Account, id: string, params: z.output<z.ZodObject<S>>) => object,
): Route {
  const [method = "", path = ""] = line.split(" ");
  return {
    method,
    path: new RegExp(`^/v1/${path.replace(":id", "([^/]+)")}$`),
    params: z.strictObject({ ...shape, expand: z.array(text).max(20).optional() }) as Route["params"],
    run,
  };
}

/** The given values, without those that were not given. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** One page of `items` as a list at `path`. */
export function list(items: readonly { id: string; created?: number }[], page: Page, path: string): object {
  return pageOf(items, page, `/v1/${path}`);
}

/** The customer. @throws the refusal of a call that names one that is not there, or not any more. */
export function living(store: Store, id: string, param: string, status?: number): Stripe.Customer {
  const customer = store.get("customer", id, param, status);
  if ("deleted" in customer)
    throw new StripeRefusal(status ?? 400, { code: "resource_missing", param, message: `No such customer: '${id}'` });
  return customer;
}

/** Whether an object has all the values that are given. */
export function matching<T extends object>(wanted: Partial<Record<keyof T, unknown>>): (object: T) => boolean {
  const entries = Object.entries(given(wanted)) as [keyof T, unknown][];
  return (object) => entries.every(([name, value]) => object[name] === value);
}
