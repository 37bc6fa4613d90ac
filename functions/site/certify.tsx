import type * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { CertifyCheckoutOutcome } from "../../shared/certification/schemas.ts";
import { CertifyDiagnostic, CertifyEligibility, CertifyStatusResponse } from "../../shared/certification/shown.ts";
import { Day, Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { HINDRANCES } from "./parts/hindrances.ts";
import { counted, intervalOf, marksOf, usd } from "./parts/in-words.ts";
import { leaveTo } from "./parts/leave.tsx";
import { LIVE } from "./parts/live.ts";
import { Notice } from "./parts/notice.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const API = "/api/v1/certify";
const LABELS = { eu_waiver_accepted: "The screening may start at once" };

type Status = z.output<typeof CertifyStatusResponse>;
type Eligibility = z.output<typeof CertifyEligibility>;
type Agent = z.output<typeof AgentRead>;

/** How far the latest certification is, in words. */
function Standing({ status, checkout }: { status: Status; checkout: string | null }) {
  const { progress, score, screening_session_id: session, paused_reason, runs_missing, issued_at, expires_at } = status;
  const missing = counted(runs_missing, "run");
  const runs = (
    <>
      {progress.finished} of {progress.total} runs have ended, {progress.passed} passed
      {session !== null && (
        <>
          : <a href={`/sessions/${session}`}>watch them</a>
        </>
      )}
    </>
  );
  switch (status.status) {
    case "none":
      return checkout === "cancelled" ? <Notice>Nothing was bought.</Notice> : null;
    case "awaiting_payment":
      return (
        <Notice>
          {checkout === "paid"
            ? "Thank you. The payment is being confirmed, which takes seconds, or days where a bank settles it; then the screening starts."
            : "A checkout was begun: send the form below to get to it. If it was paid, the payment is being confirmed, which takes days where a bank settles it."}
        </Notice>
      );
    case "screening":
      return <Notice>It is being screened: {runs}</Notice>;
    case "paused_quota":
      return (
        <Notice>
          It waits. {paused_reason?.replace(/^quota: /, "")} {runs}
        </Notice>
      );
    case "certified":
      return (
        <Notice kind="good">
          It is certified{score !== null && ` with a score of ${score.toFixed(2)}`}
          {issued_at !== null && expires_at !== null && (
            <>
              , from <Day time={issued_at} /> to <Day time={expires_at} />
            </>
          )}
          .
        </Notice>
      );
    case "not_certified":
      return runs_missing > 0 && score === null ? (
        <Notice>
          Its certification ended without a verdict: {missing} could not be carried out, which says nothing against it.{" "}
          {runs}
        </Notice>
      ) : (
        <Notice kind="bad">
          It was screened and not certified{score !== null && `: its score was ${score.toFixed(2)}`}.
          {runs_missing > 0 && ` ${missing} could not be carried out, and would have changed nothing.`} {runs}
        </Notice>
      );
    case "expired":
      return <Notice>Its certification has ended.</Notice>;
    case "refunded":
      return <Notice>Its certification was refunded, and has ended with that.</Notice>;
  }
}

/** What is known beforehand of how it would end: nobody should pay to learn what the record says. */
function Prospect({ agent, passScore }: { agent: Agent; passScore: number }) {
  const { id, score_basis, simulated, composite_score: score } = agent;
  if (score_basis === null || simulated)
    return (
      <p>
        No run of it counts yet. <a href={`/agents/${id}/screen`}>Screen it</a> first to see how it stands.
      </p>
    );
  const now = (
    <>
      Its score so far is <strong>{score.toFixed(2)}</strong> ({intervalOf(agent)}){marksOf(agent)}
    </>
  );
  return score >= passScore ? (
    <p>{now}.</p>
  ) : (
    <Notice kind="bad">
      {now}, under the {passScore} that it takes
      {agent.score_high < passScore && ": as it stands, it would hardly be certified"}.
    </Notice>
  );
}

interface BuyingProps {
  agent: Agent;
  eligibility: Eligibility;
  passScore: number;
  path: string;
  wrong: Wrong | undefined;
}

function Buying({ agent, eligibility, passScore, path, wrong }: BuyingProps) {
  const { eligible, reasons, price_usd, runs_needed } = eligibility;
  if (!eligible)
    return (
      <ul>
        {reasons.map((reason) => (
          <li>{HINDRANCES[reason]}.</li>
        ))}
      </ul>
    );
  return (
    <>
      <Prospect agent={agent} passScore={passScore} />
      <Form action={path} button={`Certify it for ${usd(price_usd)}`} once>
        <p>
          The price includes the {runs_needed} runs, and is for them, whether or not it is certified; the monthly
          allowance is left alone.
        </p>
        <Tick
          label={LABELS.eu_waiver_accepted}
          name="eu_waiver_accepted"
          checked={false}
          hint="With its start the right of withdrawal from this purchase ends (Directive 2011/83/EU, article 16). Without this it can't be sold."
          wrong={wrong}
        />
      </Form>
    </>
  );
}

async function show(visit: Visit, wrong?: Wrong): Promise<Response> {
  const { c, api, params, query } = visit;
  const id = encodeURIComponent(params["agent_id"] ?? "");
  // By itself, so that whoever has to sign in first is never told instead that there is no such agent.
  const status = await api.read(`${API}/status?agent_id=${id}`, CertifyStatusResponse);
  const [agent, rules, eligibility] = await Promise.all([
    api.read(`/api/v1/agents/${id}`, AgentRead),
    api.read(`${API}/diagnostic`, CertifyDiagnostic),
    // Members who may not buy find nothing there.
    unless("not_found", api.read(`${API}/eligibility?agent_id=${id}`, CertifyEligibility)),
  ]);
  const checkout = query.get("certification");
  const moves = status.status === "screening" || (status.status === "awaiting_payment" && checkout === "paid");
  const path = `/agents/${agent.id}/certify`;
  return personal(
    c,
    <Layout
      title={wrong === undefined ? `Certify ${agent.name}` : `Error: certify ${agent.name}`}
      own="/home"
      {...(moves ? { script: LIVE } : {})}
    >
      <h1>
        Certify <bdi>{agent.name}</bdi>
      </h1>
      <Refused wrong={wrong} labels={LABELS} />
      <div id="live">
        <div role="status">
          <Standing status={status} checkout={checkout} />
        </div>
        <p>
          It is asked the {rules.task_count} tasks of the core suite and of the secret suites, {rules.repeats} times
          each. It is certified with a score of at least {rules.pass_score} over these runs, of which at least half have
          to pass in every domain, for {rules.valid_days} days (<a href="/docs/guides/certification">more</a>). The runs
          are counted on its record, whatever comes of them.
        </p>
        {eligibility === null ? (
          <p>Only its owner, or the owner and the admins of its workspace, can buy this.</p>
        ) : (
          <Buying agent={agent} eligibility={eligibility} passScore={rules.pass_score} path={path} wrong={wrong} />
        )}
      </div>
      <p>
        <a href={`/agents/${agent.id}`}>Its record</a>
      </p>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const { c, api, form, params } = visit;
  const agent_id = params["agent_id"] ?? "";
  const body = { agent_id, eu_waiver_accepted: form.get("eu_waiver_accepted") === "true" };
  const result = await attempt(["eu_waiver_accepted"], async () =>
    CertifyCheckoutOutcome.parse(await api.send("POST", `${API}/checkout`, body, form.get(KEY) ?? undefined)),
  );
  if (result instanceof Wrong) return show(visit, result);
  return result.kind === "checkout"
    ? leaveTo(c, result.url, "the payment")
    : sendTo(c, `/agents/${encodeURIComponent(agent_id)}/certify`);
}

export const certifyPages: readonly View[] = [
  view({ path: "/agents/{agent_id}/certify", title: "Certify an agent", show: (visit) => show(visit), take }),
];
