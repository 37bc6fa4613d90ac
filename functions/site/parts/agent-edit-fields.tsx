import type * as z from "zod";
import type { AgentRead } from "../../../shared/agents/shown.ts";
import { bodyProblem } from "../../../shared/platform/problem.ts";
import { AGENT_LABELS, AgentFields, HEADER_NAMES, headerOf } from "./agent-fields.tsx";
import { Before, heldBefore } from "./before.tsx";
import { ChooseAgent } from "./choose-agent.tsx";
import { Field, Tick, type Wrong } from "./form.tsx";
import type { Choices } from "./my-agents.ts";
import { TextArea } from "./text-area.tsx";

type Agent = z.output<typeof AgentRead>;

/** What the fields of the form are called. */
export const EDIT_LABELS = {
  ...AGENT_LABELS,
  variant_of: "Variant of",
  provider_url: "Page of its maker",
  manifest_url: "Manifest",
  declared_configuration: "Declared configuration",
};

/** The fields of the form, by the names that the interface has for them. */
const EDITED = [
  "name",
  "description",
  "endpoint",
  "agent_protocol",
  "variant_of",
  "provider_url",
  "manifest_url",
  "declared_configuration",
  "allow_trial",
  "publish_answers",
] as const;

/** The fields at which a finding can stand. */
export const EDIT_NAMES = [...EDITED, ...HEADER_NAMES] as const;

/** An agent as its form shows it. */
function typedOf(agent: Agent): URLSearchParams {
  const configuration = agent.declared_configuration ?? null;
  const texts = {
    name: agent.name,
    description: agent.description,
    endpoint: agent.endpoint ?? "",
    "auth_header/name": agent.auth_header_name ?? "",
    agent_protocol: agent.agent_protocol,
    variant_of: agent.variant_of ?? "",
    provider_url: agent.provider_url ?? "",
    manifest_url: agent.manifest_url ?? "",
    declared_configuration: configuration === null ? "" : JSON.stringify(configuration, null, 2),
  };
  const ticks = (["allow_trial", "publish_answers"] as const).filter((name) => agent[name]);
  return new URLSearchParams({ ...texts, ...Object.fromEntries(ticks.map((name) => [name, "true"])) });
}

/**
 * What was changed in a form, as the interface takes it. What was left as it stood is left out, so that it undoes nothing
 * that was changed elsewhere meanwhile. Without an endpoint the agent becomes a simulated one. Throws 422 where the
 * configuration is no JSON.
 */
export function changesOf(form: URLSearchParams): Record<string, unknown> {
  const before = heldBefore(form);
  const text = (name: string, from = form) => (from.get(name) ?? "").trim().replaceAll("\r\n", "\n");
  const changes = EDITED.filter((name) => text(name) !== text(name, before)).map((name): [string, unknown] => {
    const value = text(name);
    if (name === "allow_trial" || name === "publish_answers") return [name, value === "true"];
    if (name === "declared_configuration") return [name, value === "" ? null : configurationOf(value)];
    const cleared = value === "" && name !== "name" && name !== "description";
    return [name, cleared ? null : value];
  });
  const changed: Record<string, unknown> = {
    ...Object.fromEntries(changes),
    ...headerChange(text("auth_header/name", before), form),
  };
  return changed["endpoint"] === null ? { ...changed, connection_mode: "mock" } : changed;
}

/** What becomes of the header: a value replaces it, a name that was taken out ends it. */
function headerChange(before: string, form: URLSearchParams): { auth_header?: unknown } {
  const { auth_header = null } = headerOf(form);
  if (auth_header === null) return before === "" ? {} : { auth_header: null };
  return auth_header.name === before && auth_header.value === "" ? {} : { auth_header };
}

function configurationOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bodyProblem("validation_failed", "/declared_configuration", "This is no JSON; write an object.");
  }
}

/** Everything that an owner may change, but whether it is seen and whether it is there. */
export function EditFields({
  agent,
  sent,
  roots,
  wrong,
}: {
  agent: Agent;
  /** What was typed into the form, where it is shown again. */
  sent: URLSearchParams | undefined;
  /** The agents among which those are that it can be a variant of. */
  roots: Choices;
  wrong: Wrong | undefined;
}) {
  const now = typedOf(agent);
  const typed = sent ?? now;
  const root = typed.get("variant_of") ?? "";
  // That of a hired agent is its seller's, and among hundreds of agents it may be an older one: it must not get lost.
  const offered = roots.agents.filter(({ id, variant_of }) => id !== agent.id && variant_of === null);
  const known = root === "" || offered.some(({ id }) => id === root);
  return (
    <>
      <Before held={now} typed={sent} />
      <AgentFields
        typed={typed}
        wrong={wrong}
        valueHint="Leave it empty to keep the present one. “Only try the endpoint” goes without it unless it is typed again; runs send it, and “Check it now” does."
      />
      <ChooseAgent
        label={EDIT_LABELS.variant_of}
        name="variant_of"
        value={root}
        choices={{ ...roots, agents: offered }}
        others={[
          ["", "none: it stands for itself"],
          ...(known
            ? []
            : [
                [
                  root,
                  root === now.get("variant_of")
                    ? "the agent that it is a variant of now"
                    : "the agent that was chosen before",
                ] as const,
              ]),
        ]}
        wrong={wrong}
      />
      <Field
        label={EDIT_LABELS.provider_url}
        name="provider_url"
        type="url"
        optional
        value={typed.get("provider_url")}
        wrong={wrong}
      />
      <Field
        label={EDIT_LABELS.manifest_url}
        name="manifest_url"
        type="url"
        optional
        value={typed.get("manifest_url")}
        hint="Where the registry reads what the agent says of itself"
        wrong={wrong}
      />
      <TextArea
        label={EDIT_LABELS.declared_configuration}
        name="declared_configuration"
        optional
        code
        value={typed.get("declared_configuration")}
        hint="A JSON object, such as model, framework, version. Nobody checks it; who hires the agent gets it."
        wrong={wrong}
      />
      <Tick
        label="Strangers may try it"
        name="allow_trial"
        checked={typed.get("allow_trial") === "true"}
        hint="Its page lets anybody have it asked one task at a time: that calls its endpoint, and counts for nothing."
      />
      <Tick
        label="Publish its answers"
        name="publish_answers"
        checked={typed.get("publish_answers") === "true"}
        hint="Answers of counted runs become public once their epoch is revealed. For runs that are submitted meanwhile this can't be taken back."
      />
    </>
  );
}
