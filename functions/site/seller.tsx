import { UserRead } from "../../shared/identity/schemas.ts";
import { SellerAccountRead } from "../../shared/marketplace/schemas.ts";
import { Layout, personal } from "./layout.tsx";
import { attempt, Form, Refused, Wrong } from "./parts/form.tsx";
import { leaveTo } from "./parts/leave.tsx";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/marketplace/seller";
const Seller = UserRead.pick({ charges_enabled: true, payouts_enabled: true });

async function show({ c, api, query }: Visit, wrong?: Wrong): Promise<Response> {
  const { charges_enabled, payouts_enabled } = await api.read("/api/v1/auth/me", Seller);
  return personal(
    c,
    <Layout title="Selling" own="/marketplace">
      <h1>Selling</h1>
      <Refused wrong={wrong} labels={{}} />
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
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const account = await attempt([], async () =>
    SellerAccountRead.parse(await visit.api.send("POST", "/api/v1/marketplace/seller-account")),
  );
  if (account instanceof Wrong) return show(visit, account);
  return leaveTo(visit.c, account.url, "your account as a seller");
}

export const sellerPages: readonly View[] = [
  view({ path: PATH, title: "Selling", show: (visit) => show(visit), take }),
];
