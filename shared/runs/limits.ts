/** What bounds a screening. */
export const LIMITS = {
  tasksPerBatch: 100,
  repeats: 10,
  /** Runs of one batch, which are answered at once. */
  runsPerBatch: 1000,
  /** Calls to one agent at the same time. */
  concurrency: 4,
  taskTimeMs: 120_000,
  responseBytes: 1024 * 1024,
  trialsPerAddress: 5,
  trialsPerDay: 200,
} as const;

/** Those of a screening, as callers are told them. */
export const TOLD_LIMITS = {
  max_tasks_per_batch: LIMITS.tasksPerBatch,
  max_repeats: LIMITS.repeats,
  max_runs_per_batch: LIMITS.runsPerBatch,
  max_concurrency_per_agent: LIMITS.concurrency,
  max_task_time_limit_ms: LIMITS.taskTimeMs,
  max_response_bytes: LIMITS.responseBytes,
} as const;
