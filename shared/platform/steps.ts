import { createTurns } from "./turns.ts";

/** Steps of work that nobody waits for, in an isolate that also has answers to read and requests to answer. */
export interface Steps {
  /** Resolves when it is the caller's turn to do one step, of a millisecond or so. */
  next(): Promise<void>;
}

/** A step whose request the runtime has dropped keeps the others for so long. */
const HELD_MS = 100;

/**
 * One step at a time, whosever it is, and between two of them the isolate sees to all that has arrived meanwhile. It looks
 * for that only when nothing is ready to go on: a dozen steps in a row would keep every answer waiting, and an agent is timed
 * by when its answer is read.
 */
export function createSteps(): Steps {
  const turns = createTurns({ places: 1, holdMs: HELD_MS });
  return {
    async next() {
      const place = await turns.take();
      await new Promise((resolve) => setImmediate(resolve));
      // Whoever is next waits for what has arrived as well, and so until this step is done.
      place.leave();
    },
  };
}
