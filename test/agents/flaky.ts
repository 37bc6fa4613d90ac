import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { json } from "../stack/http.ts";
import { runAlone } from "./command-line.ts";
import type { AnswerBody } from "./protocol.ts";
import { work } from "./sample.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "./server.ts";

/** What can go wrong with a run, in the order in which the shares are laid out. */
const FAULTS = ["wrong", "error", "limited", "slow"] as const;
export type Fault = (typeof FAULTS)[number];

/** The share of runs, 0 to 1, that each fault befalls; together at most 1. */
export type Shares = Record<Fault, number>;

/** Some of everything that does not take long. */
const DEFAULT_SHARES: Shares = { wrong: 0.15, error: 0.05, limited: 0.1, slow: 0 };
const DEFAULT_SLOW_MS = 5000;

/** The fault of a run, or null: drawn from its id alone, so that a run always meets the same one. */
export function faultOf(runId: string, shares: Shares): Fault | null {
  const draw = createHash("sha256").update(`flaky:${runId}`).digest().readUInt32BE(0) / 2 ** 32;
  let below = 0;
  for (const fault of FAULTS) {
    below += shares[fault];
    if (draw < below) return fault;
  }
  return null;
}

/** How a flaky agent is started; `slowMs` is how late a slow answer comes. */
export interface FlakyOptions extends AgentOptions {
  shares?: Partial<Shares>;
  slowMs?: number;
}

/**
 * Starts the sample agent with faults: wrong answers, HTTP 500, 429 with `Retry-After: 1` at the first call of a run
 * (the second is answered), answers that come late.
 * @throws RangeError for shares that are negative or more than 1 together
 */
export async function startFlaky(options: FlakyOptions): Promise<RunningAgent> {
  const shares = { ...DEFAULT_SHARES, ...options.shares };
  const together = FAULTS.reduce((sum, fault) => sum + shares[fault], 0);
  if (FAULTS.some((fault) => !(shares[fault] >= 0)) || together > 1 + 1e-9) {
    throw new RangeError("The shares of the faults must be from 0 to 1, and at most 1 together.");
  }
  const turnedAway = new Set<string>();

  return startAgent(async ({ run_id, task }, gone) => {
    switch (faultOf(run_id, shares)) {
      case "wrong":
        return json(200, spoiled(work(task)));
      case "error":
        return json(500, { error: "The agent has lost its thread." });
      case "limited":
        if (turnedAway.has(run_id)) break;
        turnedAway.add(run_id);
        return json(429, { error: "The agent is busy." }, { "retry-after": "1" });
      case "slow":
        await delay(options.slowMs ?? DEFAULT_SLOW_MS, undefined, { signal: gone });
        break;
      case null:
    }
    return json(200, work(task));
  }, options);
}

/** An answer of the same form that says nothing, and refuses exactly where the true one does not. */
function spoiled(answer: AnswerBody): AnswerBody {
  return {
    output: "I do not know.",
    refused: answer.refused !== true,
    ...(answer.tool_calls === undefined ? {} : { tool_calls: [] }),
    usage: answer.usage,
  };
}

if (import.meta.main) {
  await runAlone("flaky", { port: 9002, ...DEFAULT_SHARES, "slow-ms": DEFAULT_SLOW_MS }, (options, numberOf) => {
    const [wrong, error, limited, slow] = [numberOf("wrong"), numberOf("error"), numberOf("limited"), numberOf("slow")];
    return startFlaky({ ...options, shares: { wrong, error, limited, slow }, slowMs: numberOf("slow-ms") });
  });
}
