/** What a log line may carry beside its message: plain values only, so that no object slips in whole. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** Writes one JSON object a line; `with` adds fields to every line of a part of the work. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

const SECRET_NAME = /authorization|cookie|token|secret|password|prompt|output|answer|api_?key|jws|endpoint/i;

/** A logger on `sink` (one line a call). Fields whose name suggests a secret are replaced by `[redacted]`. */
export function createLogger(sink: (line: string) => void, now: () => Date, bound: LogFields = {}): Logger {
  const write = (level: string, message: string, fields: LogFields = {}): void => {
    const line: LogFields = { time: now().toISOString(), level, message };
    for (const [name, value] of Object.entries({ ...bound, ...fields })) {
      line[name] = SECRET_NAME.test(name) ? "[redacted]" : value;
    }
    sink(JSON.stringify(line));
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    with: (fields) => createLogger(sink, now, { ...bound, ...fields }),
  };
}
