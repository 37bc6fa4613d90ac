import type { Store } from "./store.ts";

/** A clock in Unix ms that runs by itself and can be put forward. */
export interface VirtualClock {
  now(): number;
  /** Puts the clock forward by so many milliseconds, beside what passes by itself. */
  skip(ms: number): void;
}

/** The clock `now` with the virtual time that `store` keeps: what was planned by it stays planned by it. */
export function openClock(store: Store, now: () => number): VirtualClock {
  const table = store.table<number>("clock");
  let offset = table.get("offset") ?? 0;
  return {
    now: () => now() + offset,
    skip(ms) {
      if (ms <= 0) return;
      offset += ms;
      table.set("offset", offset);
    },
  };
}
