import { randomBytes } from "node:crypto";
import { Stripe } from "stripe";
import { noSuch, StripeRefusal } from "./params.ts";

/** What the provider keeps, by its `object`. */
export interface Kinds {
  account: Stripe.Account;
  application_fee: Stripe.ApplicationFee;
  charge: Stripe.Charge;
  "checkout.session": Stripe.Checkout.Session;
  customer: Stripe.Customer;
  dispute: Stripe.Dispute;
  event: Stripe.Event;
  invoice: Stripe.Invoice;
  payment_intent: Stripe.PaymentIntent;
  price: Stripe.Price;
  product: Stripe.Product;
  refund: Stripe.Refund;
  subscription: Stripe.Subscription;
  transfer: Stripe.Transfer;
}

type Kind = keyof Kinds;

/** What a list may be narrowed by. */
export interface Page {
  limit?: number | undefined;
  starting_after?: string | undefined;
  ending_before?: string | undefined;
  created?:
    | { gt?: number | undefined; gte?: number | undefined; lt?: number | undefined; lte?: number | undefined }
    | undefined;
}

/** Everything that one account of the provider holds, related by ids as on the wire. */
export interface Store {
  /** The provider's clock, in whole seconds. */
  now(): number;
  /** The call in whose course events come to be; null where the customer or the provider does something. */
  request: { id: string; idempotency_key: string | null } | null;
  add<T extends Kinds[Kind]>(object: T): T;
  find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined;
  /** As `find`. @throws the refusal of a call that names in `param` what is not there. */
  get<K extends Kind>(kind: K, id: string, param: string, status?: number): Kinds[K];
  /** All of a kind, the newest first. */
  all<K extends Kind>(kind: K): Kinds[K][];
  /** Connected accounts that were, and are none of the platform's any more. */
  readonly disconnected: ReadonlySet<string>;
  /** Ends that a connected account is one: the last event of it names the platform. */
  disconnect(account: string): void;
  /** Records that something happened to `object`, which the event keeps as it is now. */
  emit(type: Stripe.Event.Type, object: object, previous?: object): Stripe.Event;
  /** A copy in which the asked references are objects. @throws the refusal of one that is none. */
  render(object: object, expand?: readonly string[]): object;
}

/** A random id in the provider's form. */
export function newId(prefix: string): string {
  return prefix + randomBytes(18).toString("base64url").replaceAll(/[-_]/g, "x");
}

/** The id behind a reference; empty for none. */
export function idOf(reference: string | { id: string } | null | undefined): string {
  return typeof reference === "object" ? (reference?.id ?? "") : (reference ?? "");
}

/** An empty store on a clock in milliseconds. */
export function createStore(clock: () => number): Store {
  const objects = new Map<string, Kinds[Kind]>();
  const disconnected = new Set<string>();

  function find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    const object = objects.get(id);
    return object?.object === kind ? (object as Kinds[K]) : undefined;
  }

  const store: Store = {
    now: () => Math.floor(clock() / 1000),
    request: null,
    add(object) {
      objects.set(object.id, object);
      return object;
    },
    find,
    get(kind, id, param, status) {
      const object = find(kind, id);
      if (object === undefined) throw noSuch(kind, id, param, status);
      return object;
    },
    all: <K extends Kind>(kind: K) =>
      [...objects.values()].filter((object): object is Kinds[K] => object.object === kind).toReversed(),
    disconnected,
    disconnect(account) {
      objects.delete(account);
      disconnected.add(account);
      const platform = { id: "ca_fake", object: "application", name: "The platform" };
      Object.assign(store.emit("account.application.deauthorized", platform), { account });
    },
    emit(type, object, previous) {
      const event = {
        id: newId("evt_"),
        object: "event",
        ...("object" in object && object.object === "account" ? { account: (object as Stripe.Account).id } : {}),
        api_version: Stripe.API_VERSION,
        created: store.now(),
        data: structuredClone({
          object: visible(object),
          ...(previous === undefined ? {} : { previous_attributes: previous }),
        }),
        livemode: false,
        pending_webhooks: 1,
        request: store.request ?? { id: null, idempotency_key: null },
        type,
      };
      return store.add(event as unknown as Stripe.Event);
    },
    render(object, expand = []) {
      const copy = structuredClone(visible(object));
      for (const path of expand) expandAt(copy, path.split("."), path);
      return copy;
    },
  };

  // Left out of an object unless it is asked for.
  function visible(object: object): object {
    const { line_items: _items, refunds: _refunds, payments: _payments, ...rest } = object as Record<string, unknown>;
    return Array.isArray(rest["data"]) ? { ...rest, data: rest["data"].map(visible) } : rest;
  }

  function expandAt(node: Record<string, unknown> | object, [name = "", ...rest]: string[], path: string): void {
    const parent = node as Record<string, unknown>;
    if (Array.isArray(node)) {
      for (const item of node as object[]) expandAt(item, [name, ...rest], path);
      return;
    }
    const whole = objects.get(String(parent["id"])) as unknown as Record<string, unknown> | undefined;
    const value = parent[name] ?? structuredClone(whole?.[name]);
    if (value === undefined)
      throw new StripeRefusal(400, { message: `This property cannot be expanded (${path}).` }, true);
    if (value === null) return;
    const referred = typeof value === "string" ? objects.get(value) : undefined;
    const inner = referred === undefined ? value : structuredClone(visible(referred));
    if (typeof inner !== "object")
      throw new StripeRefusal(400, { message: `This property cannot be expanded (${path}).` }, true);
    parent[name] = inner;
    if (rest.length > 0) expandAt(inner, rest, path);
  }

  return store;
}

const DEFAULT_LIMIT = 10;

/** One page of `items`, which are the newest first, in the form of a list at `url`. */
export function pageOf<T extends { id: string; created?: number }>(items: readonly T[], page: Page, url: string) {
  const { limit = DEFAULT_LIMIT, starting_after: after, ending_before: before, created = {} } = page;
  const within = items.filter(
    ({ created: at = 0 }) =>
      at > (created.gt ?? -1) &&
      at >= (created.gte ?? 0) &&
      at < (created.lt ?? Infinity) &&
      at <= (created.lte ?? Infinity),
  );
  const indexOf = (id: string, param: string): number => {
    const index = within.findIndex((item) => item.id === id);
    if (index < 0) throw noSuch("object", id, param);
    return index;
  };
  const from = after === undefined ? 0 : indexOf(after, "starting_after") + 1;
  const to = before === undefined ? within.length : indexOf(before, "ending_before");
  const rest = within.slice(from, to);
  const data = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return { object: "list", url, has_more: rest.length > data.length, data };
}
