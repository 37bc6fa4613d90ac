import type * as z from "zod";
import type { Operation } from "../../shared/http/openapi.ts";
import { type Schema, toSchema } from "../../shared/http/openapi-schema.ts";
import { AgentAnswer, AgentRequest, EVENTS } from "./events.ts";

const text = (description: string, example: string) => ({
  description,
  required: true,
  schema: { type: "string", examples: [example] },
});

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  ...text(description, example),
});

const DELIVERY = [
  header("X-Service-Event", "The event's type", "run.completed"),
  header(
    "X-Service-Delivery",
    "The delivery's id: another one at each attempt",
    "0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12",
  ),
  header("X-Service-Timestamp", "When it was sent, in seconds since 1970", "1763715600"),
  {
    ...header("X-Service-Signature-V2", "`v2=` and HMAC-SHA256 over timestamp, delivery and body", "v2=5f2c…"),
    required: false,
  },
];

const SIGNED = [
  header("Signature-Input", "RFC 9421: what the signature covers", 'sig1=("@method" "@target-uri");keyid="…"'),
  header("Signature", "RFC 9421: Ed25519, by a key of the signatures directory", "sig1=:…:"),
  header("Idempotency-Key", "The run's id", "0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12"),
];

const TITLES: Record<keyof typeof EVENTS, [summary: string, description: string]> = {
  "run.completed": ["A run was answered and graded", "Not for trials; simulated and private runs are among them."],
  "run.failed": ["A run ended without a grade", "Not for trials and cancelled runs."],
  "agent.score_updated": ["An agent's score on the board changed", "Once for runs that ended together."],
  "regression.detected": [
    "An agent got worse",
    "A session's pass rate over the same tasks fell by ten points or more, and Fisher's exact test calls that no chance.",
  ],
  "session.completed": [
    "A screening session is over",
    "Once, when its last run has ended and nothing of it is held back; that of a certification once there is a verdict. " +
      "Cancelled sessions are among them.",
  ],
  "certification.updated": [
    "A certification changed its status",
    "It began, waits for allowance or goes on, was decided, expired, or was refunded. Not when a change of the agent ended it.",
  ],
  "allowance.exhausted": [
    "The month's runs are used up",
    "Once a month, and again once those of a larger plan are used up, to every subscription of the account or workspace whose allowance it is, whatever agent it is limited to.",
  ],
  ping: ["A test of the subscription", "Sent once, by `testWebhook`, whatever is subscribed to."],
};

const json = (schema: Schema) => ({ "application/json": { schema } });

/** What the service sends to others: events to subscribers, tasks to agents. */
export function webhooksOf(schemas: Record<string, Schema>): Record<string, { post: Operation }> {
  const events = Object.entries(EVENTS).map(([type, schema]: [string, z.ZodType]) => {
    const [summary = "", description = ""] = Object.entries(TITLES).find(([name]) => name === type)?.[1] ?? [];
    const post = {
      operationId: `event-${type}`,
      tags: ["Webhooks"],
      summary,
      description: `${description}\n\nCallers: this service, at the URL of each subscription to the event. Any 2xx within 15 seconds takes it.`,
      security: [],
      parameters: DELIVERY,
      requestBody: { required: true, content: json(toSchema(schema, "output", schemas)) },
      responses: {
        "2XX": { description: "Taken" },
        "4XX": { description: "Refused; it is tried again, up to eight times" },
      },
    };
    return [type, { post }] as const;
  });
  const task = {
    operationId: "agent-task",
    tags: ["Agents"],
    summary: "A task for an agent",
    description:
      "In the native protocol. Answer 200 at once, or 202 and report to the callback before the deadline.\n\n" +
      "Callers: this service, at the agent's endpoint.",
    security: [],
    parameters: SIGNED,
    requestBody: { required: true, content: json(toSchema(AgentRequest, "output", schemas)) },
    responses: {
      200: { description: "The answer", content: json(toSchema(AgentAnswer, "output", schemas)) },
      202: { description: "The answer follows, as `updateRun`" },
      "4XX": { description: "Any other status fails the run; 429 and 503 with `Retry-After` are waited for, once" },
    },
  };
  return { ...Object.fromEntries(events), "agent.task": { post: task } };
}
