import { pauseFor, type Retries } from "../../typescript/src/retry.ts";
import type { Terminal } from "./terminal.ts";

/** Shows how far something is. */
export interface Progress {
  show(done: number, total: number, detail: string): void;
  end(): void;
}

const WIDEST = 100;
/** Where lines can't be drawn anew, one is printed at each of so many parts of the way. */
const STEPS = 10;
/** A pause of so long is told of: as a rule the service asks for it, since a minute's requests are used up. */
const TOLD_FROM_MS = 3000;

/** A bar that is drawn anew on a terminal; elsewhere, as in CI, plain lines. Both go to standard error. */
export function createProgress({ stderr }: Terminal): Progress {
  let printed = -1;
  let drawn = false;
  return {
    show(done, total, detail) {
      const share = total === 0 ? 0 : done / total;
      if (stderr.isTTY === true) {
        const width = Math.min(stderr.columns ?? 80, WIDEST) - 1;
        const text = ` ${done}/${total}  ${detail}`;
        const room = Math.max(0, width - text.length);
        const full = Math.round(share * room);
        stderr.write(`\r\u001b[K${("█".repeat(full) + "░".repeat(room - full) + text).slice(0, width)}`);
        drawn = true;
        return;
      }
      const step = Math.floor(share * STEPS);
      if (step === printed) return;
      printed = step;
      stderr.write(`${done} of ${total} runs: ${detail}\n`);
    },
    end() {
      if (drawn) stderr.write("\r\u001b[K");
      drawn = false;
    },
  };
}

/** Waits before a request is sent again, and says so on standard error where it takes long enough to be wondered at. */
export function waitingOn({ stderr }: Pick<Terminal, "stderr">): Retries["sleep"] {
  let toldUntil = 0;
  return async (ms, signal) => {
    // Requests that wait side by side end at nearly the same moment.
    if (ms >= TOLD_FROM_MS && Date.now() + ms > toldUntil + TOLD_FROM_MS) {
      toldUntil = Date.now() + ms;
      // A bar that is drawn there makes room, and is drawn anew with what comes next.
      const cleared = stderr.isTTY === true ? "\r\u001b[K" : "";
      stderr.write(`${cleared}The service asks to wait, or is away: trying again in ${Math.ceil(ms / 1000)} s.\n`);
    }
    await pauseFor(ms, signal);
  };
}
