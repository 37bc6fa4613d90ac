/** Of so many tasks one may have been asked once more or less often than the others: a run of ours may have failed. */
const TASKS_A_RUN = 10;

/** How often the tasks that an agent is ranked on were asked. */
export interface Evenness {
  /** How many runs of them it was asked at their current version, those that are scored among them. */
  asked_runs: number;
  /** Whether some tasks were asked more often than others. */
  uneven: boolean;
}

/**
 * Whether an owner may have picked what counts. Of each task the last ten counted runs are scored. Whoever asks again only
 * the tasks that went badly, and leaves those that went well, keeps good luck and loses bad luck: of 40 tasks that an agent
 * passes with a chance of 0.7, by simulation, 400 runs score 59 in whole rounds, 1,000 runs picked that way 76. So the runs
 * off the usual count, which is the mean over tasks, rounded, are summed up: more than one for each ten tasks, and at
 * least more than one, are uneven. Rounds of all tasks are even, however many; so are canaries, which are asked like the others.
 *
 * An owner could also have runs wait in the queue, pick among later ones of each task, and then let as many of the earlier
 * ones go on as make all tasks even: those are older than the ones that are scored. So earlier ones that are cancelled then,
 * or fail by our fault, which a name's own servers can bring about, count as asked all the same.
 *
 * Nor does a session that is kept open make anything even: of what ended in it nothing is scored until all of it has ended.
 *
 * @param asked how often each task was asked: final runs that are real, public, no trials, and not failed by our fault; of
 * those and of cancelled ones, what was overtaken by a later one of its task
 * @param told how many of those are scored or can be by now: all but the ones of minted tasks in sessions with an open run
 * @example
 * evenness([3, 3, 3, 3]) // { asked_runs: 12, uneven: false }
 * evenness([1, 1, 9, 5]) // { asked_runs: 16, uneven: true }
 */
export function evenness(asked: readonly number[], told: readonly number[] = asked): Evenness {
  const asked_runs = asked.reduce((sum, runs) => sum + runs, 0);
  const usual = Math.round(told.reduce((sum, runs) => sum + runs, 0) / told.length);
  const off = told.reduce((sum, runs) => sum + Math.abs(runs - usual), 0);
  return { asked_runs, uneven: off > Math.max(1, told.length / TASKS_A_RUN) };
}
