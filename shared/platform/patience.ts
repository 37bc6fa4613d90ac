/** A time limit is measured in so many steps. */
const STEPS = 10;

/** The last one is short: what arrived while the isolate was busy over the end is read in it, and hardly anything after. */
const LAST_MS = 25;

/** What aborts once patience is over, and how it ends before that. */
export interface Patience {
  signal: AbortSignal;
  /** Ends its timer. */
  end(): void;
}

/**
 * A signal that aborts with a `TimeoutError` once `ms` milliseconds have gone by in which this isolate was free to read an
 * answer. `AbortSignal.timeout` also counts the time in which the isolate was busy itself, and its timer fires before what
 * arrived meanwhile is read: a burst of password hashes then makes a store look down whose answers have long been there.
 * Here a step counts once, however late its timer fires, and what has arrived is read between two steps.
 */
export function patience(ms: number): AbortSignal {
  return createPatience(ms).signal;
}

/**
 * Does `work` under such a signal. Its timer ends with the work: one that is left to itself goes on, step by step, for as
 * long as the request lives, which is much longer where runs wait for their turn.
 */
export async function patiently<Result>(ms: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const { signal, end } = createPatience(ms);
  try {
    return await work(signal);
  } finally {
    end();
  }
}

/**
 * Does one piece of work after the other under such signals, with something that is up or down as a whole: once it did not
 * answer one within `ms`, those begun after that have `againMs` alone, so that whoever asks several times does not wait the
 * whole time for each.
 */
export function waningPatience(
  ms: number,
  againMs: number,
): <Result>(work: (signal: AbortSignal) => Promise<Result>) => Promise<Result> {
  let isOver = false;
  return (work) =>
    patiently(isOver ? againMs : ms, (signal) => {
      signal.addEventListener("abort", () => {
        isOver = true;
      });
      return work(signal);
    });
}

/** Such a signal, whose timer has to be ended. */
export function createPatience(ms: number): Patience {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const last = Math.min(LAST_MS, ms / STEPS);
  /** When a step ends, of the time before the last one. */
  const endOf = (step: number) => Math.round(((ms - last) * step) / (STEPS - 1));
  let step = 0;
  const next = (): void => {
    if (step === STEPS) return controller.abort(new DOMException("No answer within the time limit.", "TimeoutError"));
    step += 1;
    timer = setTimeout(next, step === STEPS ? ms - endOf(STEPS - 1) : endOf(step) - endOf(step - 1));
    unref(timer);
  };
  next();
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

/** Node would wait for a timer before it exits; workerd, where it may be a number, ends timers with their request. */
function unref(timer: { unref?: () => void } | number): void {
  if (typeof timer === "object") timer.unref?.();
}
