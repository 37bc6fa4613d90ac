import * as z from "zod";

/** One message: the outbox row it stands for. */
export const Message = z.object({
  consumer: z.string(),
  id: z.string(),
  generation: z.int(),
  body: z.unknown(),
  flow_key: z.string().nullable(),
  /** ISO time before which it is not delivered. */
  not_before: z.string().nullable(),
});
export type Message = z.output<typeof Message>;

/** A message that QStash did not take for a reason of its own, and what QStash said. */
export interface Refusal {
  message: Message;
  reason: string;
}

/**
 * What became of messages. Those in no list were not tried, or it is unknown whether they arrived: see `failure`.
 */
export interface Publication {
  taken: Message[];
  /** Taken, too, but owed until their consumer has done the work. */
  kept: Message[];
  refused: Refusal[];
  /** Why the queue as a whole did not go on taking messages; null if it did. */
  failure: Error | null;
}

/** Hands messages to QStash. */
export interface Publisher {
  /**
   * Publishes in as few requests as QStash allows, one after the other, and stops at the first that fails. Never throws
   * for what the queue does.
   */
  publish(messages: readonly Message[]): Promise<Publication>;
}
