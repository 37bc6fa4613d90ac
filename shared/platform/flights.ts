import { within } from "./within.ts";

/** What requests of an isolate are making now, by key: those that want the same wait for the first of them (single flight). */
export interface Flights {
  /** Resolves once whoever makes what is under this key is done, or after a second; null where nobody does. */
  landing(key: string): Promise<void> | null;
  /** From now on the caller makes what is under this key, until it calls what is returned. */
  begin(key: string): () => void;
}

/** Who waited so long does the work as well: the runtime may have dropped the first one's request without a word. */
const LONGEST_MS = 1000;

interface Flight {
  begunAt: number;
  landed: Promise<void>;
}

/** Nobody makes anything yet. */
export function createFlights(): Flights {
  // In the order in which they were begun.
  const flights = new Map<string, Flight>();

  /** Forgets those that were dropped. */
  function tidy(): void {
    const before = performance.now() - LONGEST_MS;
    for (const [key, { begunAt }] of flights) {
      if (begunAt > before) return;
      flights.delete(key);
    }
  }

  return {
    landing(key) {
      tidy();
      const flight = flights.get(key);
      return flight === undefined ? null : within(flight.landed, LONGEST_MS);
    },
    begin(key) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const flight = { begunAt: performance.now(), landed: promise };
      flights.delete(key);
      flights.set(key, flight);
      return () => {
        if (flights.get(key) === flight) flights.delete(key);
        resolve();
      };
    },
  };
}
