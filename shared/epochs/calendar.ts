import { DAY_SECONDS } from "../platform/env.ts";

/** A stretch of time whose runs are minted from one secret. */
export interface Span {
  /** Its day, such as `2026-11-22`; where epochs are shorter than a day its start, such as `2026-11-22T09:00:10Z`. */
  name: string;
  starts_at: string;
  ends_at: string;
}

/** Epochs that are made ahead of the running one: seven are promised, and an outage of a week must use up no more. */
const AHEAD = 14;

/** Where epochs are short, so many seconds are made ahead at least: the log and the trigger take a minute each. */
const AHEAD_SECONDS = 300;

/** The epoch that a time falls into, where each lasts so many seconds; epochs are counted from midnight UTC. */
export function epochAt(time: Date, seconds: number): Span {
  const length = seconds * 1000;
  const start = Math.floor(time.getTime() / length) * length;
  const starts_at = new Date(start).toISOString();
  const name = seconds === DAY_SECONDS ? starts_at.slice(0, 10) : starts_at.replace(".000Z", "Z");
  return { name, starts_at, ends_at: new Date(start + length).toISOString() };
}

/** The running epoch and `count` after it, in their order; without a count as many as have to be there by now. */
export function epochsFrom(
  time: Date,
  seconds: number,
  count = Math.max(AHEAD, Math.ceil(AHEAD_SECONDS / seconds)),
): Span[] {
  return Array.from({ length: count + 1 }, (_, n) => epochAt(new Date(time.getTime() + n * seconds * 1000), seconds));
}
