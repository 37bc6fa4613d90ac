/** What bounds a screening. */
export const LIMITS = {
  tasksPerBatch: 100,
  repeats: 10,
  /** Calls to one agent at the same time. */
  concurrency: 4,
  taskTimeMs: 120_000,
  responseBytes: 1024 * 1024,
  trialsPerAddress: 5,
  trialsPerDay: 200,
} as const;
