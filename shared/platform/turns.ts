import { within } from "./within.ts";

/** A place that somebody has. */
export interface Place {
  /** Gives it back, when the work is done. */
  leave(): void;
  /** Whether the work may go on with its next piece: it still has its place, or one is free; then it is held anew from now on. */
  keep(): boolean;
}

/** Places for work that runs side by side in one isolate: what finds none free waits for its turn, first come first served. */
export interface Turns {
  /** Takes a place as soon as one is free. */
  take(): Promise<Place>;
  /** How many places are taken. */
  taken(): number;
}

/**
 * Who waits looks by itself at least so often: workerd takes a request that waits for another one alone for hung, and one
 * that it has dropped leaves its place without a word. Seldom, since timers cost more there than all the rest of a turn.
 */
const RECHECK_MS = 1000;

interface Holder {
  /** Since when it has its place; null while its turn has not come. */
  takenAt: number | null;
  admit: () => void;
}

/**
 * So many places. One that was neither left nor kept for `holdMs` is free again, so that neither slow work nor a dropped
 * request has it for long. The time is the runtime's own: what is bounded is the load of this isolate.
 */
export function createTurns({ places, holdMs }: { places: number; holdMs: number }): Turns {
  const holders = new Set<Holder>();
  const waiting: Holder[] = [];
  const recheckMs = Math.min(RECHECK_MS, holdMs);

  function hold(holder: Holder, now: number): void {
    holder.takenAt = now;
    holders.add(holder);
  }

  function admit(now = performance.now()): void {
    for (const holder of holders) if ((holder.takenAt ?? now) + holdMs <= now) holders.delete(holder);
    while (holders.size < places) {
      const next = waiting.shift();
      if (next === undefined) return;
      hold(next, now);
      next.admit();
    }
  }

  return {
    taken: () => holders.size,
    async take() {
      const holder: Holder = { takenAt: null, admit: () => undefined };
      const turn = new Promise<void>((resolve) => {
        holder.admit = resolve;
      });
      waiting.push(holder);
      admit();
      while (holder.takenAt === null) {
        await within(turn, recheckMs);
        admit();
      }
      return {
        leave() {
          holders.delete(holder);
          admit();
        },
        keep() {
          const now = performance.now();
          admit(now);
          const has = holders.has(holder) || holders.size < places;
          if (has) hold(holder, now);
          return has;
        },
      };
    },
  };
}
