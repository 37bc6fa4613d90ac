import type * as z from "zod";
import {
  BillingStatusResponse,
  CheckoutOutcome,
  DevUpgradeResponse,
  PendingPaymentResponse,
  PortalOutcome,
} from "../../shared/billing/schemas.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Choose, Form, KEY, Result, type Sent, Wrong } from "./parts/form.tsx";
import { leaveTo } from "./parts/leave.tsx";
import { Notice } from "./parts/notice.tsx";
import { agentsOf, Plans } from "./parts/plans.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/plan";
const API = "/api/v1/billing";
const LABELS = { tier: "Plan", cadence: "Paid" };
const REASONS = {
  first_payment: "the start of the subscription",
  plan_change: "the change of the plan",
  renewal: "another period",
};

type Changed = Exclude<z.output<typeof CheckoutOutcome>, { kind: "checkout" }>;

/** The account's outstanding payment; null where there is no payment provider, or it does not answer. */
async function pendingOf({ api }: Visit): Promise<z.output<typeof PendingPaymentResponse> | null> {
  try {
    return await api.read(`${API}/pending-payment`, PendingPaymentResponse);
  } catch (error) {
    if (error instanceof Problem && error.status === 503) return null;
    throw error;
  }
}

/** What is known of a checkout that has just sent the browser back. */
function Returned({ checkout, plan }: { checkout: string | null; plan: string }) {
  if (checkout === "left")
    return (
      <Notice>
        <p>Nothing was bought. The page to pay at can be opened again from here.</p>
      </Notice>
    );
  if (checkout !== "done") return null;
  return (
    <Notice kind="good">
      {plan === "free" ? (
        <p>
          Thank you. The plan follows the payment, which takes seconds: <a href={`${PATH}?checkout=done`}>look again</a>
        </p>
      ) : (
        <p>Thank you. The plan {plan} is yours.</p>
      )}
    </Notice>
  );
}

function Change({
  plan,
  typed,
  wrong,
}: {
  plan: string;
  typed?: URLSearchParams | undefined;
  wrong?: Wrong | undefined;
}) {
  return (
    <Form action={PATH} button={plan === "free" ? "On to the payment" : "Change the plan"} once>
      <input type="hidden" name="do" value="buy" />
      <Choose
        label={LABELS.tier}
        name="tier"
        value={typed?.get("tier") ?? "pro"}
        options={[
          ["pro", "Pro"],
          ["team", "Team"],
        ]}
        {...(plan === "free" ? {} : { hint: "The difference is settled by an invoice at once." })}
        wrong={wrong}
      />
      <Choose
        label={LABELS.cadence}
        name="cadence"
        value={typed?.get("cadence") ?? "monthly"}
        options={[
          ["monthly", "Monthly"],
          ["yearly", "Yearly"],
        ]}
        wrong={wrong}
      />
    </Form>
  );
}

async function show(visit: Visit, { said, typed, wrong }: Sent = {}): Promise<Response> {
  const { c, api, query } = visit;
  const [user, billing, pending] = await Promise.all([
    api.read("/api/v1/auth/me", UserRead),
    api.read(`${API}/status`, BillingStatusResponse),
    pendingOf(visit),
  ]);
  const { plan } = user;
  const sold = billing.billing_enabled && (billing.payment_configured || billing.dev_mode);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Plan" : "Error: plan"} own="/settings">
      <h1>Plan</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={LABELS} />
      <Returned checkout={query.get("checkout")} plan={plan} />
      {pending?.processing === true ? (
        <Notice>
          <p>
            The payment for {REASONS[pending.reason ?? "renewal"]} is under way, which takes days where a bank settles
            it. Nothing is left to pay, and ending the plan does not call it back.
          </p>
        </Notice>
      ) : (
        pending?.pending === true && (
          <Notice kind="bad">
            <p>
              An invoice for {REASONS[pending.reason ?? "renewal"]} waits to be paid
              {pending.url !== null ? (
                <>
                  : <a href={pending.url}>pay it</a>
                </>
              ) : (
                ", and is not collected any more. To have a plan again, end this one and choose it anew."
              )}
            </p>
          </Notice>
        )
      )}
      <dl>
        <dt>Plan</dt>
        <dd>{plan}</dd>
        <dt>Runs this month</dt>
        <dd>
          {user.monthly_run_count} of {user.monthly_run_limit}
        </dd>
        <dt>Agents</dt>
        <dd>{agentsOf(user)}</dd>
        <dt>Workspaces</dt>
        <dd>{user.team_count}</dd>
      </dl>
      <h2>What each plan allows</h2>
      <Plans current={plan} />
      <h2>Change the plan</h2>
      {!sold ? (
        <p>Plans can't be bought at the moment.</p>
      ) : plan === "enterprise" ? (
        <p>Your plan was agreed on by hand: write to the operators to change it.</p>
      ) : (
        <Change plan={plan} typed={typed} wrong={wrong} />
      )}
      {billing.payment_configured && (
        <>
          <h2>Cards and invoices</h2>
          <Form action={PATH} button="Open the payment provider's portal">
            <input type="hidden" name="do" value="portal" />
          </Form>
        </>
      )}
      {sold && (plan === "pro" || plan === "team" || pending?.pending === true) && (
        <>
          <h2>End the plan</h2>
          <Form action={PATH} button="End the plan now" danger>
            <input type="hidden" name="do" value="cancel" />
            <p>It ends at once, and what is left of its period is not paid back.</p>
          </Form>
        </>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** What became of a change that needs no page of the provider's. */
function saidOf(changed: Changed): string {
  const waits = changed.kind === "plan_change" && changed.effective_at === null;
  return waits
    ? `The plan becomes ${changed.plan} once its invoice is paid.`
    : `The plan is ${changed.plan}; it can take some seconds to show.`;
}

const isFree = async (api: Visit["api"]): Promise<boolean> =>
  (await api.read("/api/v1/auth/me", UserRead)).plan === "free";

async function take(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const [wish, tier, cadence] = ["do", "tier", "cadence"].map((name) => form.get(name) ?? "");
  const result = await attempt(["tier", "cadence"], async () => {
    if (wish === "portal") return PortalOutcome.parse(await api.send("POST", `${API}/portal`));
    if (wish === "cancel") return DevUpgradeResponse.parse(await api.send("POST", `${API}/cancel`));
    const bought = await api.send("POST", `${API}/checkout`, { tier, cadence }, form.get(KEY) ?? undefined);
    return CheckoutOutcome.parse(bought);
  });
  // A form that was sent twice finds the plan ended by the first.
  if (result instanceof Wrong && wish === "cancel" && result.status === 409 && (await isFree(api)))
    return show(visit, { said: "The plan is free." });
  if (result instanceof Wrong) return show(visit, { typed: form, wrong: result });
  if (result.kind === "checkout") return leaveTo(c, result.url, "the payment");
  if (result.kind === "portal") return leaveTo(c, result.url, "your cards and invoices");
  return show(visit, { said: saidOf(result) });
}

export const planPages: readonly View[] = [
  view({ path: PATH, title: "Plan", show: (visit) => show(visit), take }),
  view({
    path: "/billing",
    title: "Where the payment provider sends the browser back to",
    show: ({ c, query }) => sendTo(c, query.size === 0 ? PATH : `${PATH}?${query.toString()}`),
  }),
];
