import { EVENT_TYPES } from "../../../shared/webhooks/event.ts";
import { Field, Tick, type Wrong } from "./form.tsx";
import { Group } from "./group.tsx";
import { ShownOnce } from "./shown-once.tsx";

/** What the fields of a webhook are called. */
export const WEBHOOK_LABELS = { url: "URL", event_types: "Events", description: "Note", agent_id: "Of" };

/** The fields that the interface may find wrong. */
export const WEBHOOK_NAMES = ["url", "event_types", "description", "agent_id"] as const;

const MEANINGS: Record<(typeof EVENT_TYPES)[number], string> = {
  "run.completed": "a run was completed",
  "run.failed": "a run failed",
  "agent.score_updated": "an agent's score changed",
  "regression.detected": "an agent got worse",
  "session.completed": "a screening session is over",
  "certification.updated": "a certification began, was decided, paused or ended",
  "allowance.exhausted": "the month's runs are used up",
};

/** The events that are ticked. */
export function eventsOf(form: URLSearchParams): string[] {
  return EVENT_TYPES.filter((type) => form.get(type) === "true");
}

/** Where a webhook sends what. */
export function WebhookFields({ typed, wrong }: { typed: URLSearchParams; wrong: Wrong | undefined }) {
  return (
    <>
      <Field
        label={WEBHOOK_LABELS.url}
        name="url"
        type="url"
        value={typed.get("url")}
        hint="https, on port 443 or 8443 of a public name"
        wrong={wrong}
      />
      <Group legend={WEBHOOK_LABELS.event_types} name="event_types" wrong={wrong}>
        {EVENT_TYPES.map((type) => (
          <Tick label={`${MEANINGS[type]} (${type})`} name={type} checked={typed.get(type) === "true"} />
        ))}
      </Group>
      <Field
        label={WEBHOOK_LABELS.description}
        name="description"
        optional
        value={typed.get("description")}
        wrong={wrong}
      />
    </>
  );
}

/** A secret that was made for a webhook: shown in one answer alone, and not in that to a form that was sent twice. */
export function Secret({ secret }: { secret: string | null }) {
  if (secret === null)
    return <p>The secret was shown in the answer to the first sending of this form. Rotate it if you missed it.</p>;
  return (
    <>
      <p>
        <strong>The secret that signs its deliveries.</strong> It is shown this once: copy it now.
      </p>
      <ShownOnce id="secret" label="The secret" text={secret} />
    </>
  );
}
