import * as z from "zod";
import { ListingRead, PurchaseRead } from "../../shared/marketplace/shown.ts";
import { Day, Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Form, KEY, Refused, Wrong } from "./parts/form.tsx";
import { leaveTo } from "./parts/leave.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/marketplace";
const API = "/api/v1/marketplace";
const PAGE = 20;
const Listings = z.object({ items: z.array(ListingRead), total: z.number() });
const Purchases = z.object({ items: z.array(PurchaseRead) });

type Listing = z.output<typeof ListingRead>;
type Purchase = z.output<typeof PurchaseRead>;

/** What the visitor bought before; null for a stranger. */
async function purchasesOf({ api }: Visit): Promise<Purchase[] | null> {
  const found = await unless("unauthenticated", api.read(`${API}/purchases?page_size=${PAGE}`, Purchases));
  return found?.items ?? null;
}

const usd = (price: number): string => `${price.toFixed(2)} USD`;

function Offer({ listing }: { listing: Listing }) {
  const { id, agent_id, agent_name, title, description, price_usd, seller_username, is_own } = listing;
  return (
    <section>
      <h2>
        <bdi>{title}</bdi>
      </h2>
      <p dir="auto">{description}</p>
      <dl>
        <dt>Price</dt>
        <dd>{usd(price_usd)}, once</dd>
        <dt>Agent</dt>
        <dd>
          <a href={`/agents/${agent_id}`}>
            <bdi>{agent_name}</bdi>
          </a>
          , with its record
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
      {is_own ? (
        <RowAction action={PATH} id={id} wish="withdraw" label="Withdraw" of={title} />
      ) : (
        <Form action={PATH} button={`Hire it for ${usd(price_usd)}`} once>
          <input type="hidden" name="id" value={id} />
        </Form>
      )}
    </section>
  );
}

function Bought({ purchases }: { purchases: readonly Purchase[] }) {
  return (
    <>
      <h2>What you bought</h2>
      <Table label="Purchases" columns={["Begun", ["Price", "number"], "State"]}>
        {purchases.map(({ id, created_at, price_usd, status }) => (
          <tr>
            <td>
              <a href={`/marketplace/purchases/${id}`}>
                <Day time={created_at} />
              </a>
            </td>
            <td class="number">{usd(price_usd)}</td>
            <td>{status.toLowerCase().replaceAll("_", " ")}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Its forms carry keys that are good for one purchase, a stranger's too: no cache may hand them to somebody else. */
async function show(visit: Visit, wrong?: Wrong): Promise<Response> {
  const page = pageIn(visit.query);
  const [{ items, total }, purchases] = await Promise.all([
    visit.api.read(`${API}/listings?page_size=${PAGE}&page=${page}`, Listings),
    purchasesOf(visit),
  ]);
  const last = Math.max(1, Math.ceil(total / PAGE));
  return personal(
    visit.c,
    <Layout title="Marketplace" {...(purchases === null ? { at: PATH } : { own: PATH })}>
      <h1>Marketplace</h1>
      <Refused wrong={wrong} labels={{}} />
      {visit.query.has("withdrawn") && (
        <Notice kind="good" alert>
          <p>The listing is withdrawn. Purchases that were begun can still be paid.</p>
        </Notice>
      )}
      <p>
        Who hires an agent gets its declared configuration as it is at that moment, as an agent of their own, to be
        given an endpoint and screened. <a href="/marketplace/seller">Offer one of yours</a>
      </p>
      {items.length === 0 ? (
        <Empty>No agent is for hire {page === 1 ? "yet" : "on this page"}.</Empty>
      ) : (
        items.map((listing) => <Offer listing={listing} />)
      )}
      <Pager page={page} last={last} href={(at) => `${PATH}?page=${at}`} />
      {purchases !== null && purchases.length > 0 && <Bought purchases={purchases} />}
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const { c, api, form } = visit;
  const id = z.uuid().catch("").parse(form.get("id"));
  if (form.get("do") === "withdraw") {
    const gone = await attempt([], () => api.send("DELETE", `${API}/listings/${id}`));
    return gone instanceof Wrong ? show(visit, gone) : sendTo(c, `${PATH}?withdrawn=1`);
  }
  const bought = await attempt([], async () =>
    PurchaseRead.parse(await api.send("POST", `${API}/purchases`, { listing_id: id }, form.get(KEY) ?? undefined)),
  );
  if (bought instanceof Wrong) return show(visit, bought);
  return bought.checkout_url === null
    ? sendTo(c, `/marketplace/purchases/${bought.id}`)
    : leaveTo(c, bought.checkout_url, "the payment");
}

export const marketplacePages: readonly View[] = [
  view({ path: PATH, title: "Agents for hire", show: (visit) => show(visit), take }),
];
