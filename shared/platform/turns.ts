import { within } from "./within.ts";

/** Places for work that runs side by side in one isolate: what finds none free waits for its turn, first come first served. */
export interface Turns {
  /** Takes a place as soon as one is free; call what it resolves to when the work is done. */
  take(): Promise<() => void>;
  /** How many places are taken. */
  taken(): number;
}

/**
 * Who waits looks by itself from time to time: workerd takes a request that waits for another one alone for hung, and one
 * that it has dropped leaves its place without a word. Seldom, since timers cost more there than all the rest of a turn.
 */
const RECHECK_MS = 1000;

interface Place {
  /** When it was taken; null while its turn has not come. */
  takenAt: number | null;
  admit: () => void;
}

/**
 * So many places. One that was not left for `holdMs` is free again, so that neither slow work nor a dropped request keeps
 * it. The time is the runtime's own: what is bounded is the load of this isolate.
 */
export function createTurns({ places, holdMs }: { places: number; holdMs: number }): Turns {
  const holders = new Set<Place>();
  const waiting: Place[] = [];

  function admit(): void {
    const now = performance.now();
    for (const place of holders) if ((place.takenAt ?? now) + holdMs <= now) holders.delete(place);
    while (holders.size < places) {
      const next = waiting.shift();
      if (next === undefined) return;
      next.takenAt = now;
      holders.add(next);
      next.admit();
    }
  }

  return {
    taken: () => holders.size,
    async take() {
      const place: Place = { takenAt: null, admit: () => undefined };
      const turn = new Promise<void>((resolve) => {
        place.admit = resolve;
      });
      waiting.push(place);
      admit();
      while (place.takenAt === null) {
        await within(turn, RECHECK_MS);
        admit();
      }
      return () => {
        holders.delete(place);
        admit();
      };
    },
  };
}
