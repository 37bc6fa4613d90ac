import type { Answer, Task } from "../protocol.ts";
import { bill } from "./bill.ts";
import { declined, refusal, sorting } from "./conduct.ts";
import { fields } from "./fields.ts";
import { fallback } from "./fallback.ts";
import type { Solver } from "./kind.ts";
import { listEdits } from "./list-edits.ts";
import { groupMean, rowsOfPieces, workingDays } from "./numbers.ts";
import { orderings } from "./orderings.ts";
import { load, meeting, tour } from "./planning.ts";
import { cron, lastAttempts, replenishment, scannedSum } from "./records.ts";
import { schedule } from "./schedule.ts";
import { schemaExample } from "./schema-example.ts";
import { truthTellers } from "./truth-tellers.ts";
import { writing } from "./writing.ts";

/** In this order: what must be refused first, then the rules that look for the most telling signs. */
const SOLVERS: readonly Solver[] = [
  refusal,
  declined,
  bill,
  replenishment,
  lastAttempts,
  scannedSum,
  schedule,
  tour,
  meeting,
  load,
  listEdits,
  workingDays,
  groupMean,
  rowsOfPieces,
  truthTellers,
  orderings,
  sorting,
  cron,
  writing,
  schemaExample,
  fields,
];

/**
 * Works a task out by rules, one for each kind of work, from what the task itself says and nothing else. The same task
 * always gets the same answer. Where no rule applies the answer has the form asked for and is mostly wrong: the rules
 * were written for the kinds of work in the core suite, and understand little of what other suites ask.
 */
export function solve(task: Task): Answer {
  for (const solver of SOLVERS) {
    const answer = solver(task);
    if (answer !== null) return answer;
  }
  return fallback(task);
}
