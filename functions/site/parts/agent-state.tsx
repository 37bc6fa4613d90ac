import type * as z from "zod";
import type { AgentOtlpTokenResponse } from "../../../shared/agents/schemas.ts";
import type { AgentRead } from "../../../shared/agents/shown.ts";
import type { AgentReadiness } from "../../../shared/runs/readiness-shown.ts";
import { Form } from "./form.tsx";
import { Notice } from "./notice.tsx";
import { Moment } from "./moment.tsx";
import { seenBy } from "./seen-by.ts";
import { ShownOnce } from "./shown-once.tsx";

type Agent = z.output<typeof AgentRead>;
type Readiness = z.output<typeof AgentReadiness>;

const ENDPOINT = {
  ready: "answers",
  failing: "did not answer as it should",
  unchecked: "not checked within the last hour",
  not_applicable: "there is none to call",
};
const TELEMETRY = {
  receiving: "spans came within the last day",
  waiting: "there is a token, and no spans came within the last day",
  not_configured: "there is no token; a screening needs none",
};

/** A form that is a button with what it does. */
function Button({ path, wish, label, danger, once }: Record<"path" | "wish" | "label", string> & Flags) {
  return (
    <Form action={path} button={label} danger={danger === true} once={once === true}>
      <input type="hidden" name="do" value={wish} />
    </Form>
  );
}

interface Flags {
  danger?: boolean;
  once?: boolean;
}

/** Whether the agent can be reached, as was last seen, and a button that looks now. */
export function ReadinessShown({ readiness, path, active }: { readiness: Readiness; path: string; active: boolean }) {
  const { endpoint, telemetry } = readiness;
  return (
    <>
      <h2>Readiness</h2>
      <dl>
        <dt>Endpoint</dt>
        <dd>
          {ENDPOINT[endpoint.state]}
          {endpoint.failure_code !== null && (
            <>
              : <code>{endpoint.failure_code}</code>
            </>
          )}
          {endpoint.latency_ms !== null && `, after ${endpoint.latency_ms} ms`}
        </dd>
        {endpoint.checked_at !== null && (
          <>
            <dt>Seen</dt>
            <dd>
              <Moment time={endpoint.checked_at} />
            </dd>
          </>
        )}
        <dt>Telemetry</dt>
        <dd>{TELEMETRY[telemetry.state]}</dd>
      </dl>
      {active && endpoint.state !== "not_applicable" && <Button path={path} wish="check" label="Check it now" />}
    </>
  );
}

/** Whether others see the agent, and the way to change that. */
export function Publishing({ agent, ready, path }: { agent: Agent; ready: string | null; path: string }) {
  return (
    <>
      <h2 id="public">Who sees it</h2>
      {agent.is_public ? (
        <p>Everybody: its record, its score and its runs but the private ones. Off the board, it keeps all of them.</p>
      ) : (
        <p>Only {seenBy(agent)}. Once it is public, so are its runs but the private ones.</p>
      )}
      {!agent.is_public && ready === "failing" && (
        <Notice>
          <p>Its endpoint did not answer as it should when it was last called: you may want to mend that first.</p>
        </Notice>
      )}
      {agent.is_public ? (
        <Button path={path} wish="unpublish" label="Make it private" />
      ) : (
        <Button path={path} wish="publish" label="Show it to everybody" />
      )}
    </>
  );
}

/** The agent's credential for the receiver of spans. It is shown in the answer to the form alone. */
export function Telemetry({
  agent,
  token,
  path,
}: {
  agent: Agent;
  token: z.output<typeof AgentOtlpTokenResponse> | undefined;
  path: string;
}) {
  const has = agent.has_otlp_token === true;
  return (
    <>
      <h2>Telemetry</h2>
      {token !== undefined && (
        <Notice kind="good" alert>
          {token.token === null ? (
            <p>The token was shown in the answer to the first sending of this form. Make another if you missed it.</p>
          ) : (
            <>
              <p>
                <strong>The token is shown this once: copy it now.</strong> OpenTelemetry exporters take it that send
                over HTTP:
              </p>
              <ShownOnce
                id="token"
                label="Settings of the exporter, with the token"
                text={`OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nOTEL_EXPORTER_OTLP_ENDPOINT=${token.endpoint}\nOTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${token.token}"`}
              />
            </>
          )}
        </Notice>
      )}
      <p>With spans, the page of the agent shows what it is made of, and costs that its answers leave out.</p>
      <Button path={path} wish="token" label={has ? "Replace the token" : "Make a token"} once />
      {has && <Button path={path} wish="untoken" label="Revoke the token" />}
    </>
  );
}

/** The ways of an agent out of use and back. */
export function Life({ agent, path }: { agent: Agent; path: string }) {
  if (!agent.is_active)
    return (
      <>
        <h2>It is retired</h2>
        <p>It can't be screened and stands on no board. Its runs and their evidence are kept.</p>
        <Button path={path} wish="revive" label="Take it up again" />
      </>
    );
  return (
    <>
      {agent.connection_retired && (
        <>
          <h2>Its connection is no longer supported</h2>
          <p>Agents are called at their own endpoints now. Give the old way up, and connect it anew.</p>
          <Button path={path} wish="clear" label="Give the old connection up" />
        </>
      )}
      <h2>Retire it</h2>
      <p>It leaves the board and can't be screened. Its runs and their evidence are kept, its credentials are not.</p>
      <Button path={path} wish="retire" label="Retire the agent" danger />
    </>
  );
}
