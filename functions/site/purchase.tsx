import type * as z from "zod";
import { PurchaseRead } from "../../shared/marketplace/shown.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { LIVE } from "./parts/live.ts";
import { usd } from "./parts/in-words.ts";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

type Purchase = z.output<typeof PurchaseRead>;

/** Where a purchase stands, and what to do next. */
function Standing({ purchase, checkout }: { purchase: Purchase; checkout: string | null }) {
  const { id, listing_id, status, price_usd, refunded_usd, checkout_url, hired_agent_id } = purchase;
  if (status === "COMPLETED")
    return (
      <Notice kind="good">
        <p>
          {refunded_usd < price_usd ? "It is paid." : "It was paid, and paid back."}{" "}
          {hired_agent_id === null ? (
            "The agent that was hired is gone since."
          ) : (
            <>
              The hired agent is yours: <a href={`/agents/${hired_agent_id}/edit`}>give it an endpoint</a>, and it can
              be screened.
            </>
          )}
        </p>
      </Notice>
    );
  if (status !== "AWAITING_PAYMENT")
    return (
      <Notice kind="bad">
        <p>
          This purchase did not go through, and nothing was charged. The agent can be hired anew at the{" "}
          <a href="/marketplace">marketplace</a>.
        </p>
      </Notice>
    );
  return (
    <Notice>
      {checkout === "success" ? (
        <p>
          Thank you. The payment is being confirmed, which takes seconds, or days where a bank settles it:{" "}
          <a href={`/marketplace/purchases/${id}?checkout=success`}>look again</a>
        </p>
      ) : checkout_url !== null ? (
        <p>
          It waits to be paid: <a href={checkout_url}>pay it at our payment provider</a>
        </p>
      ) : (
        <p>
          If you have paid it, the payment is being confirmed, which takes days where a bank settles it. Else go on from{" "}
          <a href={`/marketplace/${listing_id}`}>the listing</a>.
        </p>
      )}
    </Notice>
  );
}

async function show({ c, api, params, query }: Visit): Promise<Response> {
  const purchase = await api.read(`/api/v1/marketplace/purchases/${params["purchase_id"]}`, PurchaseRead);
  const waits = purchase.status === "AWAITING_PAYMENT";
  return personal(
    c,
    <Layout title="A purchase" own="/marketplace" {...(waits ? { script: LIVE } : {})}>
      <h1>A purchase</h1>
      <div id="live">
        <div role="status">
          <Standing purchase={purchase} checkout={query.get("checkout")} />
        </div>
        <dl>
          <dt>Agent</dt>
          <dd>
            <bdi>{purchase.agent_name}</bdi>
          </dd>
          <dt>Price</dt>
          <dd>{usd(purchase.price_usd)}</dd>
          {purchase.refunded_usd > 0 && (
            <>
              <dt>Paid back</dt>
              <dd>{usd(purchase.refunded_usd)}</dd>
            </>
          )}
          <dt>Begun</dt>
          <dd>
            <Day time={purchase.created_at} />
          </dd>
          {purchase.completed_at !== null && (
            <>
              <dt>Paid</dt>
              <dd>
                <Day time={purchase.completed_at} />
              </dd>
            </>
          )}
        </dl>
      </div>
    </Layout>,
  );
}

export const purchasePages: readonly View[] = [
  view({ path: "/marketplace/purchases/{purchase_id}", title: "A purchase", show }),
];
