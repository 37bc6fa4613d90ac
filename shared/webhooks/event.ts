import * as z from "zod";

/** What can be subscribed to. */
export const EVENT_TYPES = [
  "run.completed",
  "run.failed",
  "agent.score_updated",
  "regression.detected",
  "session.completed",
  "certification.updated",
  "allowance.exhausted",
] as const;

/** What POST /webhooks/{id}/test sends, subscribed to or not. */
export const PING = "ping";

/**
 * An event as the outbox carries it to the consumer `announce`. Its `id` is also that of the outbox row, and the same at
 * every attempt to deliver it. `data` is sent as it is, so it holds no outputs, prompts or credentials.
 */
export const WebhookEvent = z
  .strictObject({
    id: z.uuid(),
    type: z.enum(EVENT_TYPES),
    /** As PostgreSQL's JSON or as ISO 8601 writes it; sent in UTC with milliseconds. */
    created_at: z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString()),
    /** The agent that it is about: only subscriptions of this agent's owner are notified. Left out where there is none. */
    agent_id: z.uuid().optional(),
    /** Whom it is about where it is about no agent: all subscriptions of this account or workspace are notified. */
    holder: z.strictObject({ kind: z.enum(["user", "team"]), id: z.uuid() }).optional(),
    /** Whatever the sender has to say, for receivers only: nothing here reads it. */
    data: z.record(z.string(), z.unknown()),
  })
  .refine(({ agent_id, holder }) => (agent_id === undefined) !== (holder === undefined), {
    message: "An event is about an agent, or about its holder.",
  });

/** How long a body may be, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/** The body of every delivery of an event: the receiver's contract. */
export function eventBody(event: { id: string; type: string; created_at: string; data: unknown }): string {
  const { id, type, created_at, data } = event;
  return JSON.stringify({ id, type, created_at, data });
}
