import type Stripe from "stripe";
import { newItem, periodOf } from "./objects-plans.ts";
import { noSuch, StripeRefusal } from "./params.ts";
import type { Store } from "./store.ts";

type Items = readonly Stripe.SubscriptionItem[];

/** What becomes of one item of a subscription; without an id it is another item. */
export interface ItemChange {
  id?: string | undefined;
  price?: string | undefined;
  quantity?: number | undefined;
  deleted?: boolean | undefined;
}

/** The items of a subscription after `changes`, which are not made yet. @throws the refusal. */
export function changedItems(
  store: Store,
  subscription: Stripe.Subscription,
  changes: readonly ItemChange[],
): Stripe.SubscriptionItem[] {
  let items = structuredClone(subscription.items.data);
  for (const [index, change] of changes.entries()) {
    const at = `items[${index}]`;
    const item = items.find(({ id }) => id === change.id);
    if (item === undefined) {
      if (change.id !== undefined) throw noSuch("subscription_item", change.id, `${at}[id]`);
      items.push(anotherItem(store, { ...subscription, items: { ...subscription.items, data: items } }, change, at));
    } else if (change.deleted === true) {
      items = items.filter((one) => one !== item);
    } else {
      changeItem(store, item, change, at);
    }
  }
  const refuse = (message: string) => new StripeRefusal(400, { param: "items", message });
  if (items.length === 0) throw refuse("A subscription must have at least one active item.");
  if (items.some((item) => intervalOf([item]) !== intervalOf(items)))
    throw refuse("The prices of a subscription must all recur at the same interval.");
  return items;
}

function anotherItem(
  store: Store,
  { id, items }: Stripe.Subscription,
  { price: priceId, quantity }: ItemChange,
  at: string,
): Stripe.SubscriptionItem {
  const param = `${at}[price]`;
  if (priceId === undefined)
    throw new StripeRefusal(
      400,
      { code: "parameter_missing", param, message: `Missing required param: ${param}.` },
      true,
    );
  if (items.data.some(({ price }) => price.id === priceId))
    throw new StripeRefusal(400, {
      param,
      message: `The subscription ${id} has an item of the price ${priceId} already.`,
    });
  return newItem(store, id, recurringPrice(store, priceId, param), quantity);
}

function changeItem(
  store: Store,
  item: Stripe.SubscriptionItem,
  { price: priceId, quantity }: ItemChange,
  at: string,
): void {
  if (quantity !== undefined) item.quantity = quantity;
  if (priceId === undefined) return;
  const price = recurringPrice(store, priceId, `${at}[price]`);
  if (price.recurring?.interval !== item.price.recurring?.interval) Object.assign(item, periodOf(price, store.now()));
  item.price = price;
}

function recurringPrice(store: Store, id: string, param: string): Stripe.Price {
  const price = store.get("price", id, param);
  if (price.recurring !== null) return price;
  const message = `The price ${id} has the type one_time, but this field only accepts prices with the type recurring.`;
  throw new StripeRefusal(400, { param, message });
}

/** What a period of `items` costs. */
export function costOf(items: Items): number {
  return items.reduce((sum, { price, quantity = 1 }) => sum + (price.unit_amount ?? 0) * quantity, 0);
}

/** Whether going over from one to the other is invoiced at once: a new period always is. */
export function isInvoiced(before: Items, after: Items, proration = "create_prorations"): boolean {
  const content = (items: Items): string => JSON.stringify(items.map(({ price, quantity }) => [price.id, quantity]));
  if (content(before) === content(after)) return false;
  return proration === "always_invoice" || intervalOf(before) !== intervalOf(after);
}

function intervalOf(items: Items): string | undefined {
  return items[0]?.price.recurring?.interval;
}
