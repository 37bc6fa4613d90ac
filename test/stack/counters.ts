/** Work counted since the last reset: requests taken by each front, and what they carried. */
export interface Counts {
  db: { requests: number; statements: number };
  redis: { requests: number; commands: number };
  qstash: { requests: number; messages: number };
}

/** The live counts, which the fronts add to. */
export interface Counters extends Counts {
  /** A copy of the counts as they are now. */
  snapshot(): Counts;
  /** Sets every count to zero. */
  reset(): void;
}

const zero = (): Counts => ({
  db: { requests: 0, statements: 0 },
  redis: { requests: 0, commands: 0 },
  qstash: { requests: 0, messages: 0 },
});

/** Counters at zero, one set for the three fronts. Requests that a fault swallows count as requests, not as work. */
export function createCounters(): Counters {
  const counters: Counters = {
    ...zero(),
    snapshot: () => ({ db: { ...counters.db }, redis: { ...counters.redis }, qstash: { ...counters.qstash } }),
    reset: () => void Object.assign(counters, zero()),
  };
  return counters;
}
