import * as z from "zod";
import { UserRead } from "../../shared/identity/shown.ts";
import { SaleRead, SaleSums, SellerAccountRead } from "../../shared/marketplace/shown.ts";
import { Day, Layout, personal, sendTo } from "./layout.tsx";
import { ChooseAgent } from "./parts/choose-agent.tsx";
import { attempt, Field, Form, KEY, Refused, Wrong } from "./parts/form.tsx";
import { leaveTo } from "./parts/leave.tsx";
import { type Choices, looksForAgent, myAgents } from "./parts/my-agents.ts";
import { usd } from "./parts/in-words.ts";
import { Deal, Listings } from "./parts/listing.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { TextArea } from "./parts/text-area.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/marketplace/seller";
const PAGE = 20;
const Sales = z.object({ items: z.array(SaleRead), total: z.number(), sums: SaleSums });
const Seller = UserRead.pick({ charges_enabled: true, payouts_enabled: true });

const LABELS = { agent_id: "Agent", title: "Title", description: "Description", price_usd: "Price in US dollars" };
const NAMES = ["agent_id", "title", "description", "price_usd"] as const;

/** What is put up for hire: the owner's public agents, each by one listing at a time. */
function Offer({ choices, typed, wrong }: { choices: Choices; typed: URLSearchParams; wrong?: Wrong | undefined }) {
  if (choices.agents.length === 0 && choices.q === "")
    return (
      <Empty>
        There is no agent to offer yet. <a href="/agents/new">Connect one</a>
      </Empty>
    );
  const value = (name: string): string => typed.get(name) ?? "";
  return (
    <Form action={PATH} button="Offer it" once>
      <input type="hidden" name="do" value="offer" />
      <ChooseAgent
        label={LABELS.agent_id}
        name="agent_id"
        value={value("agent_id")}
        choices={choices}
        hint="It has to be public."
        wrong={wrong}
      />
      <Field label={LABELS.title} name="title" value={value("title")} wrong={wrong} />
      <TextArea label={LABELS.description} name="description" value={value("description")} optional wrong={wrong} />
      <Field
        label={LABELS.price_usd}
        name="price_usd"
        value={value("price_usd")}
        hint="1 to 10,000, paid once. A listing does not change: withdraw it and make another."
        wrong={wrong}
      />
    </Form>
  );
}

/** What the seller has not withdrawn, on offer or not. */
function Own({ listings: { items, total }, page }: { listings: z.output<typeof Listings>; page: number }) {
  if (total === 0) return <Empty>None of your agents is listed.</Empty>;
  return (
    <>
      {items.length === 0 ? (
        <Empty>No listing is on this page.</Empty>
      ) : (
        <Table
          label="Your listings"
          columns={[
            ["What", "wide"],
            ["Agent", "wide"],
            ["Price", "number"],
            ["End", "mute"],
          ]}
        >
          {items.map((listing) => (
            <tr>
              <td class="wide">
                <a href={`/marketplace/${listing.id}`}>
                  <bdi>{listing.title}</bdi>
                </a>
              </td>
              <td class="wide">
                <a href={`/agents/${listing.agent_id}`}>
                  <bdi>{listing.agent_name}</bdi>
                </a>
              </td>
              <td class="number">{usd(listing.price_usd)}</td>
              <td>
                <Deal listing={listing} action={`/marketplace/${listing.id}`} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager page={page} last={Math.ceil(total / PAGE)} href={(at) => `${PATH}?listed=${at}#listed`} />
    </>
  );
}

/** What was earned, and by what. */
function Sold({ sales: { items, total, sums }, page }: { sales: z.output<typeof Sales>; page: number }) {
  if (total === 0)
    return (
      <Empty>
        Nobody has hired one of your agents yet. Once somebody has paid, it stands here with what you get of it. What
        you offer is seen at the <a href="/marketplace">marketplace</a>, with the score of its agent.
      </Empty>
    );
  return (
    <>
      <dl>
        <dt>You earned</dt>
        <dd>
          <strong>{usd(sums.earned_usd)}</strong>
        </dd>
        <dt>Buyers paid</dt>
        <dd>{usd(sums.price_usd)}</dd>
        {sums.refunded_usd > 0 && (
          <>
            <dt>Paid back to buyers</dt>
            <dd>{usd(sums.refunded_usd)}</dd>
          </>
        )}
        <dt>Kept by us</dt>
        <dd>{usd(sums.fee_usd)}</dd>
        <dt>Sales</dt>
        <dd>{total}</dd>
      </dl>
      {sums.refunded_usd > 0 && (
        <p>What a buyer gets back lowers what you earned only where our payment provider took it back from you.</p>
      )}
      {items.length === 0 ? (
        <Empty>No sale is on this page.</Empty>
      ) : (
        <Table
          label="Sales"
          columns={["Paid", ["What", "wide"], ["Price", "number"], ["Kept by us", "number"], ["Earned", "number"]]}
        >
          {items.map(
            ({ listing_id, title, agent_name, price_usd, refunded_usd, fee_usd, earned_usd, completed_at }) => (
              <tr>
                <td>
                  <Day time={completed_at} />
                </td>
                <td class="wide">
                  {listing_id === null ? (
                    <bdi>{agent_name}</bdi>
                  ) : (
                    <a href={`/marketplace/${listing_id}`}>
                      <bdi>{title}</bdi>
                    </a>
                  )}
                </td>
                <td class="number">
                  {usd(price_usd)}
                  {refunded_usd > 0 && ` (${usd(refunded_usd)} paid back)`}
                </td>
                <td class="number">{usd(fee_usd)}</td>
                <td class="number">{usd(earned_usd)}</td>
              </tr>
            ),
          )}
        </Table>
      )}
      <Pager page={page} last={Math.ceil(total / PAGE)} href={(at) => `${PATH}?page=${at}#sold`} />
    </>
  );
}

async function show({ c, api, query, form }: Visit, wrong?: Wrong): Promise<Response> {
  const page = pageIn(query);
  const listed = pageIn(query, "listed");
  const [{ charges_enabled, payouts_enabled }, choices, listings, sales] = await Promise.all([
    api.read("/api/v1/auth/me", Seller),
    myAgents(api, form),
    api.read(`/api/v1/marketplace/listings?mine=true&page_size=${PAGE}&page=${listed}`, Listings),
    api.read(`/api/v1/marketplace/sales?page_size=${PAGE}&page=${page}`, Sales),
  ]);
  return personal(
    c,
    <Layout title="Selling" own="/marketplace">
      <h1>Selling</h1>
      <Refused wrong={wrong} labels={LABELS} />
      {query.get("onboarding") === "refresh" && (
        <Notice kind="bad" alert>
          <p>That link was used or too old. Go on from here: the button makes a new one.</p>
        </Notice>
      )}
      <p>
        Who hires one of your agents gets its declared configuration, never its endpoint or its credentials. You get the
        price less a tenth, paid out by our payment provider, who asks you who you are and where the money goes.
      </p>
      <dl>
        <dt>Buyers can pay you</dt>
        <dd>{charges_enabled ? "yes" : "not yet"}</dd>
        <dt>Money is paid out to you</dt>
        <dd>{payouts_enabled ? "yes" : "not yet"}</dd>
      </dl>
      {!(charges_enabled && payouts_enabled) && (
        <p>
          What you told the provider is checked there first, which can take some minutes. Load this page again then; if
          something is missing, the button leads to where it is asked for.
        </p>
      )}
      <Form
        action={PATH}
        button={charges_enabled && payouts_enabled ? "Look at what the provider knows" : "Go on at the provider"}
      />
      {charges_enabled && (
        <>
          <h2>Offer an agent</h2>
          <Offer choices={choices} typed={form} wrong={wrong} />
        </>
      )}
      {(charges_enabled || listings.total > 0) && (
        <>
          <h2 id="listed">Your listings</h2>
          <Own listings={listings} page={listed} />
        </>
      )}
      {(charges_enabled || sales.total > 0) && (
        <>
          <h2 id="sold">What you sold</h2>
          <Sold sales={sales} page={page} />
        </>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/**
 * A price as the interface takes it: with a point or a comma before one or two digits, with commas before three for
 * thousands. What else is typed is sent as it is, to be refused, since a guess would sell at another price.
 */
function priceOf(text: string): number | string {
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d{1,2})?$/.test(text)) return Number(text.replaceAll(",", ""));
  return /^\d+([.,]\d{1,2})?$/.test(text) ? Number(text.replace(",", ".")) : text;
}

async function offer(visit: Visit): Promise<Response> {
  const { c, api, form } = visit;
  const text = (name: string): string => form.get(name)?.trim() ?? "";
  const listing = {
    agent_id: text("agent_id"),
    title: text("title"),
    price_usd: priceOf(text("price_usd")),
    ...(text("description") === "" ? {} : { description: text("description") }),
  };
  const made = await attempt(NAMES, () =>
    api.send("POST", "/api/v1/marketplace/listings", listing, form.get(KEY) ?? undefined),
  );
  return made instanceof Wrong ? show(visit, made) : sendTo(c, "/marketplace");
}

async function take(visit: Visit): Promise<Response> {
  if (looksForAgent(visit.form)) return show(visit);
  if (visit.form.get("do") === "offer") return offer(visit);
  const account = await attempt([], async () =>
    SellerAccountRead.parse(await visit.api.send("POST", "/api/v1/marketplace/seller-account")),
  );
  if (account instanceof Wrong) return show(visit, account);
  return leaveTo(visit.c, account.url, "your account as a seller");
}

export const sellerPages: readonly View[] = [
  view({ path: PATH, title: "Selling", show: (visit) => show(visit), take }),
];
