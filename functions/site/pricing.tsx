import { PRICE_USD, VALID_DAYS } from "../../shared/certification/terms.ts";
import { Layout, page } from "./layout.tsx";
import { usd } from "./parts/in-words.ts";
import { Plans } from "./parts/plans.tsx";
import { type View, view } from "./parts/view.ts";

const PRICING = (
  <Layout title="Pricing" at="/pricing">
    <h1>Pricing</h1>
    <p>
      Everything that the service measures is in every plan: the same tasks, the same scoring, the same signed evidence.
      A plan says how much of it there is.
    </p>
    <Plans />
    <p class="mute">
      A run is one task, asked once: the core suite once is 40 runs. What is cancelled while it is queued, and what ends
      by a fault of ours, is given back. Months are calendar months, UTC. The limits of team hold for each workspace.
      When a plan ends, workspaces beyond those of the next one, the newest first, keep all they have, but run and add
      nothing until they are handed over to a member whose plan has room, or the plan is larger again.
    </p>
    <h2>Prices</h2>
    <p>
      Free takes no card. Pro and team are paid by the month or the year through Stripe, whose page shows the price and
      the tax before anything is paid. Choose them under <a href="/settings/plan">your plan</a>. You can end yours there
      at any time: it ends at once, and what is left of its period is not paid back. A certification is bought once, for
      one agent, at {usd(PRICE_USD)} with the runs that it takes, and holds for {VALID_DAYS} days.
    </p>
    <p>
      <a class="button" href="/sign-up">
        Start for free
      </a>
    </p>
  </Layout>
);

export const pricingPages: readonly View[] = [
  view({ path: "/pricing", title: "What each plan allows", show: () => page(PRICING), kept: { tag: "fixed" } }),
];
