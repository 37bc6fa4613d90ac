import * as z from "zod";
import { ListingRead, PurchaseRead } from "../../../shared/marketplace/shown.ts";
import { sendTo } from "../layout.tsx";
import { attempt, Form, KEY, Wrong } from "./form.tsx";
import { usd } from "./in-words.ts";
import { leaveTo } from "./leave.tsx";
import { RowAction } from "./row-action.tsx";
import { unless } from "./unless.ts";
import type { Visit } from "./view.ts";

const API = "/api/v1/marketplace";

type Listing = z.output<typeof ListingRead>;

/** A page of listings. */
export const Listings = z.object({ items: z.array(ListingRead), total: z.number() });

/** What one gets for the money. */
export const TERMS =
  "Who hires an agent gets its declared configuration as it is at that moment, as an agent of their own, to be given an endpoint and screened.";

/** What a listing offers: what it says, its price, its agent, of which more may be told, and who sells it. */
export function Offered({ listing, record = "with its record" }: { listing: Listing; record?: string }) {
  const { agent_id, agent_name, description, price_usd, seller_username } = listing;
  return (
    <>
      <p dir="auto">{description}</p>
      <dl>
        <dt>Price</dt>
        <dd>{usd(price_usd)}, once</dd>
        <dt>Agent</dt>
        <dd>
          <a href={`/agents/${agent_id}`}>
            <bdi>{agent_name}</bdi>
          </a>
          , {record}
        </dd>
        {seller_username !== null && (
          <>
            <dt>Seller</dt>
            <dd>
              <bdi>{seller_username}</bdi>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** The button of a listing, which is sent to `action`: its seller withdraws it, anybody else hires its agent. */
export function Deal({ listing: { id, title, price_usd, is_own }, action }: { listing: Listing; action: string }) {
  if (is_own) return <RowAction action={action} id={id} wish="withdraw" label="Withdraw" of={title} />;
  return (
    <Form action={action} button={`Hire it for ${usd(price_usd)}`} once>
      <input type="hidden" name="id" value={id} />
    </Form>
  );
}

/** Does what the button of a listing asks for; `show` shows the page again where that is refused. */
export async function deal(visit: Visit, show: (visit: Visit, wrong: Wrong) => Promise<Response>): Promise<Response> {
  const { c, api, form } = visit;
  const id = z.uuid().catch("").parse(form.get("id"));
  if (form.get("do") === "withdraw") {
    const gone = await attempt([], () => api.send("DELETE", `${API}/listings/${id}`));
    return gone instanceof Wrong ? show(visit, gone) : sendTo(c, "/marketplace?withdrawn=1");
  }
  const bought = await attempt([], async () =>
    PurchaseRead.parse(await api.send("POST", `${API}/purchases`, { listing_id: id }, form.get(KEY) ?? undefined)),
  );
  if (bought instanceof Wrong) {
    const shown = bought.status === 404 ? null : await unless("not_found", show(visit, bought));
    // It has no page any more on which that could be said: it was gone, or what refused it took it off offer.
    return shown ?? sendTo(c, "/marketplace?gone=1");
  }
  return bought.checkout_url === null
    ? sendTo(c, `/marketplace/purchases/${bought.id}`)
    : leaveTo(c, bought.checkout_url, "the payment");
}
