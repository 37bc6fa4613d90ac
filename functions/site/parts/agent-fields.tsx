import type * as z from "zod";
import type { ConnectionTestResult } from "../../../shared/runs/connection-shown.ts";
import { Choose, Field, type Wrong } from "./form.tsx";
import { AGENT_GUIDE } from "./guide-addresses.ts";
import { Notice } from "./notice.tsx";

/** What the fields of an agent are called, above a form that was refused too. */
export const AGENT_LABELS = {
  name: "Name",
  description: "What it is good for",
  endpoint: "Endpoint",
  agent_protocol: "What the endpoint speaks",
  "auth_header/name": "Header that the endpoint asks for",
  "auth_header/value": "Value of the header",
};

/** The fields of the header. */
export const HEADER_NAMES = ["auth_header/name", "auth_header/value"] as const;

/** The header that was typed, as the interface takes it; nothing where none was. */
export function headerOf(form: URLSearchParams): { auth_header?: { name: string; value: string } } {
  const [name = "", value = ""] = ["name", "value"].map((part) => form.get(`auth_header/${part}`)?.trim());
  return name === "" && value === "" ? {} : { auth_header: { name, value } };
}

const PROTOCOLS = [
  ["native", "The service's own JSON: {task} in, {output} out"],
  ["openai_chat", "OpenAI-compatible chat completions, of the model “default”"],
  ["a2a", "Agent2Agent (A2A) 0.2 and 0.3, message/send"],
  ["a2a_1", "Agent2Agent (A2A) 1.0, SendMessage"],
] as const;

/** What came of trying an endpoint. */
export type Tested = z.output<typeof ConnectionTestResult>;

interface TestOutcomeProps {
  tested: Tested;
  endpoint: string;
  /** The header that is kept for the endpoint, and that it was tried without. */
  unsent?: string | undefined;
}

/** What was sent to the endpoint, and what came back. */
export function TestOutcome({ tested, endpoint, unsent }: TestOutcomeProps) {
  return (
    <Notice kind={tested.ok ? "good" : "bad"} alert>
      <p>
        <strong>{tested.ok ? "The endpoint answers." : "The endpoint does not answer as it should."}</strong>{" "}
        {tested.detail}
      </p>
      <dl>
        <dt>Sent</dt>
        <dd>
          one signed POST with a tiny task to <code>{endpoint}</code>
          {unsent !== undefined && (
            <>
              , <strong>without</strong> the header <code>{unsent}</code>
            </>
          )}
        </dd>
        <dt>Came back</dt>
        <dd>
          {tested.status_code === null ? "no complete answer" : `status ${tested.status_code}`}, after{" "}
          {tested.latency_ms} ms
        </dd>
        {tested.failure_code !== null && (
          <>
            <dt>A run would fail with</dt>
            <dd>
              <code>{tested.failure_code}</code>: <a href={AGENT_GUIDE}>what an endpoint is sent, and has to answer</a>
            </dd>
          </>
        )}
      </dl>
      {unsent !== undefined && (
        <p>
          The value that is kept of <code>{unsent}</code> can't be read back to try with it. Type it again to try with
          it; to the endpoint that is saved, every run sends it, and so does “Check it now” below.
        </p>
      )}
    </Notice>
  );
}

/** The buttons beside the one that keeps an agent; after an endpoint that did not answer, one that keeps it anyhow. */
export function testButtons(tested: Tested | undefined, anyway: string): (readonly [wish: string, label: string])[] {
  const only = ["test", "Only try the endpoint"] as const;
  return tested?.ok === false ? [only, ["anyway", anyway]] : [only];
}

/** The fields that tell an agent and how it is called; a header's value that was typed stays, so that what was tried is kept. */
export function AgentFields({
  typed,
  wrong,
  valueHint = "Kept encrypted, sent to the endpoint alone, and shown to nobody.",
}: {
  typed: URLSearchParams;
  wrong?: Wrong | undefined;
  valueHint?: string;
}) {
  return (
    <>
      <Field label={AGENT_LABELS.name} name="name" value={typed.get("name")} wrong={wrong} />
      <Field
        label={AGENT_LABELS.endpoint}
        name="endpoint"
        type="url"
        optional
        value={typed.get("endpoint")}
        hint="https, on port 443 or 8443 of a public name. Without one the agent is simulated, to look around."
        wrong={wrong}
      />
      <Choose
        label={AGENT_LABELS.agent_protocol}
        name="agent_protocol"
        value={typed.get("agent_protocol") ?? "native"}
        options={PROTOCOLS}
        wrong={wrong}
      />
      <Field
        label={AGENT_LABELS["auth_header/name"]}
        name="auth_header/name"
        optional
        value={typed.get("auth_header/name")}
        hint="Such as Authorization or X-Api-Key, where the signature is not enough to be let in."
        wrong={wrong}
      />
      <Field
        label={AGENT_LABELS["auth_header/value"]}
        name="auth_header/value"
        type="password"
        // Nobody's password for this site: a browser must not fill that in, as it would be sent to the endpoint.
        autocomplete="new-password"
        optional
        keeps
        value={typed.get("auth_header/value")}
        hint={valueHint}
        wrong={wrong}
      />
      <Field
        label={AGENT_LABELS.description}
        name="description"
        optional
        value={typed.get("description")}
        wrong={wrong}
      />
    </>
  );
}
