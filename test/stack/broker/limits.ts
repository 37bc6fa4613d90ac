import type { Draft } from "./message.ts";
import type { Store } from "./store.ts";
import { BadRequest } from "./values.ts";
import { json, type Reply } from "../http.ts";
import type { QStashLimits } from "../limits.ts";

const DAY_MS = 86_400_000;

/**
 * A draft as the plan lets it pass: an attempt is given up when the plan says so at the latest.
 * @throws BadRequest for a message that is too large, is to be tried too often, or lies too far ahead.
 */
export function withinPlan({ message, deduplicationKey }: Draft, plan: QStashLimits, now: number): Draft {
  const exceeded = (quota: string): BadRequest => new BadRequest(`quota ${quota} exceeded`);
  if (message.body.length > plan.messageBytes) throw exceeded("maxMessageSize");
  if (message.maxRetries > plan.retries) throw exceeded("maxRetries");
  if (message.due - now > plan.delayMs) throw exceeded("maxDelay");
  return { message: { ...message, timeoutMs: Math.min(message.timeoutMs, plan.responseMs) }, deduplicationKey };
}

/** How many messages were taken today, by the broker's clock in UTC. */
export interface DailyQuota {
  /** Counts messages that were taken at `now`. */
  add(messages: number, now: number): void;
  /** The answer to a publication at `now` when the day's messages are used up; else null. */
  refusal(now: number): Reply | null;
}

/** The daily quota of a plan, with what `store` remembers of today. */
export function openDailyQuota(store: Store, { messagesPerDay }: QStashLimits): DailyQuota {
  const table = store.table<{ day: number; messages: number }>("daily_quota");
  const usedAt = (now: number): number => {
    const kept = table.get("today");
    return kept?.day === Math.floor(now / DAY_MS) ? kept.messages : 0;
  };
  return {
    add(messages, now) {
      table.set("today", { day: Math.floor(now / DAY_MS), messages: usedAt(now) + messages });
    },
    refusal(now) {
      if (usedAt(now) < messagesPerDay) return null;
      return json(
        429,
        { error: "daily message quota exceeded" },
        {
          "RateLimit-Limit": String(messagesPerDay),
          "RateLimit-Remaining": "0",
          "RateLimit-Reset": String((Math.floor(now / DAY_MS) + 1) * (DAY_MS / 1000)),
        },
      );
    },
  };
}
