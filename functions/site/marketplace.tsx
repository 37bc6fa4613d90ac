import * as z from "zod";
import { type ListingRead, PurchaseRead } from "../../shared/marketplace/shown.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { Refused, type Wrong } from "./parts/form.tsx";
import { usd } from "./parts/in-words.ts";
import { Deal, deal, Listings, Offered, TERMS } from "./parts/listing.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { unless } from "./parts/unless.ts";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";

const PATH = "/marketplace";
const API = "/api/v1/marketplace";
const PAGE = 20;
const Purchases = z.object({ items: z.array(PurchaseRead), total: z.number() });

type Listing = z.output<typeof ListingRead>;

/** A page of what the visitor bought before; null for a stranger. */
function purchasesOf({ api }: Visit, page: number): Promise<z.output<typeof Purchases> | null> {
  return unless("unauthenticated", api.read(`${API}/purchases?page_size=${PAGE}&page=${page}`, Purchases));
}

function Offer({ listing }: { listing: Listing }) {
  return (
    <section>
      <h2>
        <a href={`${PATH}/${listing.id}`}>
          <bdi>{listing.title}</bdi>
        </a>
      </h2>
      <Offered listing={listing} />
      <Deal listing={listing} action={PATH} />
    </section>
  );
}

function Bought({ purchases, page }: { purchases: z.output<typeof Purchases>; page: number }) {
  return (
    <>
      <h2 id="bought">What you bought</h2>
      <Table label="Purchases" columns={[["Agent", "wide"], "Begun", ["Price", "number"], "State"]}>
        {purchases.items.map(({ id, agent_name, created_at, price_usd, status }) => (
          <tr>
            <td class="wide">
              <a href={`/marketplace/purchases/${id}`}>
                <bdi>{agent_name}</bdi>
              </a>
            </td>
            <td>
              <Day time={created_at} />
            </td>
            <td class="number">{usd(price_usd)}</td>
            <td>{status.toLowerCase().replaceAll("_", " ")}</td>
          </tr>
        ))}
      </Table>
      <Pager page={page} last={Math.ceil(purchases.total / PAGE)} href={(at) => `${PATH}?bought=${at}#bought`} />
    </>
  );
}

/** Its forms carry keys that are good for one purchase, a stranger's too: no cache may hand them to somebody else. */
async function show(visit: Visit, wrong?: Wrong): Promise<Response> {
  const [page, bought] = [pageIn(visit.query), pageIn(visit.query, "bought")];
  const [{ items, total }, purchases] = await Promise.all([
    visit.api.read(`${API}/listings?page_size=${PAGE}&page=${page}`, Listings),
    purchasesOf(visit, bought),
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
      {visit.query.has("gone") && (
        <Notice kind="bad" alert>
          <p>That agent is not for hire any more. Nothing was bought.</p>
        </Notice>
      )}
      <p>
        {TERMS} <a href="/marketplace/seller">Offer one of yours, or see what you sold</a>
      </p>
      {items.length === 0 ? (
        <Empty>No agent is for hire {page === 1 ? "yet" : "on this page"}.</Empty>
      ) : (
        items.map((listing) => <Offer listing={listing} />)
      )}
      <Pager page={page} last={last} href={(at) => `${PATH}?page=${at}`} />
      {purchases !== null && purchases.total > 0 && <Bought purchases={purchases} page={bought} />}
    </Layout>,
    wrong?.status ?? 200,
  );
}

export const marketplacePages: readonly View[] = [
  view({
    path: PATH,
    title: "Agents for hire",
    show: asOwner((visit) => show(visit)),
    take: (visit) => deal(visit, show),
  }),
];
