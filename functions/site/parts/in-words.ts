import type * as z from "zod";
import type { AgentRead } from "../../../shared/agents/shown.ts";

type Recorded = "composite_score" | "score_low" | "score_high" | "score_basis" | "simulated" | "memorised" | "uneven";

/** So many of a thing: `1 run`, `40 runs`. Where the plural takes more than an s, it is given. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** The first so many of an order: `the first agent`, `the first 3 agents`. */
export function theFirst(count: number, one: string): string {
  return `the first ${count === 1 ? one : counted(count, one)}`;
}

/** A list: `A, B and C`. */
export function joined(parts: readonly string[], last: "and" | "or" = "and"): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${last} ${parts.at(-1)}`;
}

/** The 95% interval of a score, as exact as the score is shown: rounded further it could leave it outside. */
export const intervalOf = ({ score_low: low, score_high: high }: { score_low: number; score_high: number }): string =>
  `${low.toFixed(2)} to ${high.toFixed(2)}`;

/** A price, or what becomes of it: `39.00 USD`. */
export const usd = (price: number): string => `${price.toFixed(2)} USD`;

/** What calls of a model cost, which is next to nothing and yet something: `0.000049 USD`. */
export const costInWords = (cost: number): string => `${cost.toFixed(6)} USD`;

/** What qualifies a score, as words that follow it: `, memorised, uneven`; nothing where nothing does. */
export const marksOf = ({ memorised, uneven }: { memorised: boolean; uneven: boolean }): string =>
  `${memorised ? ", memorised" : ""}${uneven ? ", uneven" : ""}`;

/** What stands behind the words for the state of an agent. */
export const STATES = {
  unverified: "no run of it was completed and signed so far",
  verified: "a run of it was completed and signed",
  certified: "a certificate of it is in force",
} as const;

/** What stands behind the words for what a score is of. */
export const BASES = {
  core: "of the core tasks, which the board ranks by",
  provisional: "provisional, until it was asked every core task",
} as const;

export const NO_RUN_COUNTS = "of which no run counts yet";

/** How good an agent is, by its runs. */
export function recordOf(agent: Pick<z.output<typeof AgentRead>, Recorded>): string {
  if (agent.score_basis === null) return NO_RUN_COUNTS;
  const { composite_score: score, score_basis, simulated } = agent;
  return `score ${score.toFixed(2)} (${intervalOf(agent)}), ${simulated ? "simulated" : score_basis}${marksOf(agent)}`;
}
