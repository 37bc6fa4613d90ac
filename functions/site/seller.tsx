import { UserRead } from "../../shared/identity/shown.ts";
import { SellerAccountRead } from "../../shared/marketplace/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { ChooseAgent } from "./parts/choose-agent.tsx";
import { attempt, Field, Form, KEY, Refused, TextArea, Wrong } from "./parts/form.tsx";
import { leaveTo } from "./parts/leave.tsx";
import { type Choices, looksForAgent, myAgents } from "./parts/my-agents.ts";
import { Empty, Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/marketplace/seller";
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

async function show({ c, api, query, form }: Visit, wrong?: Wrong): Promise<Response> {
  const [{ charges_enabled, payouts_enabled }, choices] = await Promise.all([
    api.read("/api/v1/auth/me", Seller),
    myAgents(api, form),
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
