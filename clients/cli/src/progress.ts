import type { Terminal } from "./terminal.ts";

/** Shows how far something is. */
export interface Progress {
  show(done: number, total: number, detail: string): void;
  end(): void;
}

const WIDEST = 100;
/** Where lines can't be drawn anew, one is printed at each of so many parts of the way. */
const STEPS = 10;

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
