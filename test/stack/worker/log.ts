/** How many lines are kept: of more, the newest. */
const KEPT = 5000;

/** The levels of log lines. */
export const LEVELS = ["info", "warn", "error"] as const;

/** A line as the Worker wrote it: the object that it is in JSON, else its text at the level of the console. */
export type LogLine = { level: string; message: string } & Record<string, unknown>;

/** The last 5,000 lines that the Worker has logged. */
export interface WorkerLog {
  add(text: string, level: string): void;
  /** Oldest first: those of this level, and those whose text as it was written contains this. */
  lines(filter?: { level?: string | undefined; contains?: string | undefined }): LogLine[];
}

/** An empty log. */
export function createWorkerLog(): WorkerLog {
  const kept: { text: string; line: LogLine }[] = [];
  return {
    add(text, level) {
      kept.push({
        text,
        line: structured(text) ?? { level: LEVELS.find((name) => name === level) ?? "info", message: text },
      });
      // Dropped by the hundred, since each drop moves all others.
      if (kept.length >= KEPT + 100) kept.splice(0, kept.length - KEPT);
    },
    lines: ({ level, contains = "" } = {}) =>
      kept
        .slice(-KEPT)
        .filter(({ text, line }) => text.includes(contains) && (level === undefined || line.level === level))
        .map(({ line }) => line),
  };
}

function structured(text: string): LogLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

function isLine(value: unknown): value is LogLine {
  return typeof value === "object" && value !== null && "level" in value && "message" in value;
}
