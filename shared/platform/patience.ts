/** A time limit is measured in so many steps. */
const STEPS = 10;

/**
 * A signal that aborts with a `TimeoutError` once `ms` milliseconds have gone by in which this isolate was free to read an
 * answer. `AbortSignal.timeout` also counts the time in which the isolate was busy itself, and its timer fires before what
 * arrived meanwhile is read: a burst of password hashes then makes a store look down whose answers have long been there.
 * Here a step counts once, however late its timer fires, and what has arrived is read between two steps.
 */
export function patience(ms: number): AbortSignal {
  const controller = new AbortController();
  let left = STEPS;
  const step = (): void => {
    if (left === 0) return controller.abort(new DOMException("No answer within the time limit.", "TimeoutError"));
    left -= 1;
    const timer: { unref?: () => void } | number = setTimeout(step, ms / STEPS);
    // Node would wait for it before it exits; workerd, where it is a number, ends timers with their request.
    if (typeof timer === "object") timer.unref?.();
  };
  step();
  return controller.signal;
}
