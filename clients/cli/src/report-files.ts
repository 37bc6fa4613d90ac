import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { EXIT, explained, Failure } from "./failure.ts";
import { type Broken, goingOn, toJunit, toJunitOfError, toMarkdown, toMarkdownOfError } from "./reports.ts";
import type { Results } from "./results.ts";
import { note, type Terminal } from "./terminal.ts";

/** Where the reports of a screening go; each is left out where no file was named. */
export interface ReportFiles {
  junit: string | undefined;
  markdown: string | undefined;
}

/**
 * The files, their folders made: before runs are spent, so that no report is without a place afterwards. What they hold
 * stays until there is something to put in its place.
 * @throws Failure for one that can't be written
 */
export function provenFiles({ junit, markdown }: Partial<ReportFiles>): ReportFiles {
  for (const file of [junit, markdown]) if (file !== undefined) prove(file);
  return { junit, markdown };
}

function prove(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, "a"));
  } catch (error) {
    throw new Failure(
      EXIT.usage,
      `${file} can't be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Writes what a screening came to. */
export function writeResults({ junit, markdown }: ReportFiles, results: Results, verdict: readonly string[]): void {
  if (junit !== undefined) writeFileSync(junit, toJunit(results));
  if (markdown !== undefined) writeFileSync(markdown, toMarkdown(results, verdict));
}

/** What is known of a screening that may break off. */
export type Known = Omit<Broken, "message">;

/** What asks a program to end: a runner whose job is cancelled or out of time, or Ctrl-C. */
const ENDS = ["SIGINT", "SIGTERM"] as const;

/** So long is waited for what a signal has to be done for: a runner sends SIGTERM 7.5 s after SIGINT, and kills 2.5 s later. */
const LONGEST_STOP_MS = 5000;

/**
 * Does `work`; where that fails, or is ended by a signal, the files tell of it, too, and how to go on, before the error or the
 * signal goes on as it is. A signal does `stop` first, where it is given, which says what it did: after that nothing goes on.
 * `work` may put what comes to be known meanwhile into `known`.
 */
export async function told<T>(
  { junit, markdown }: ReportFiles,
  known: Known,
  terminal: Terminal,
  work: () => Promise<T>,
  stop?: (signal: AbortSignal) => Promise<string>,
): Promise<T> {
  const tell = (message: string, goesOnBy = known.goesOnBy) => {
    const broken = { ...known, message, goesOnBy };
    if (junit !== undefined) attempt(terminal, () => writeFileSync(junit, toJunitOfError(broken)));
    if (markdown !== undefined) attempt(terminal, () => writeFileSync(markdown, toMarkdownOfError(broken)));
    if (goesOnBy !== null) note(terminal, goingOn(goesOnBy));
  };
  let ending: Promise<void> | undefined;
  const endBy = async (signal: (typeof ENDS)[number]) => {
    if (terminal.stderr.isTTY === true) terminal.stderr.write("\r\u001b[K");
    const ended = `${signal} ended the program before there was a result.`;
    // An error is printed by whoever gets it; of a signal nobody else says what came of it.
    const say: typeof tell = (message, goesOnBy) => {
      note(terminal, message);
      tell(message, goesOnBy);
    };
    if (stop === undefined) say(ended);
    else
      await stop(AbortSignal.timeout(LONGEST_STOP_MS)).then(
        (done) => say(`${ended} ${done}`, null),
        (error: unknown) => say(`${ended} What was queued could not be cancelled: ${explained(error).text}`),
      );
    leave();
    process.kill(process.pid, signal);
  };
  // What launched the program may hand on a signal that it has had already, and a runner sends a second one.
  const end = (signal: (typeof ENDS)[number]) => void (ending ??= endBy(signal));
  const leave = () => {
    for (const signal of ENDS) process.off(signal, end);
  };
  for (const signal of ENDS) process.on(signal, end);
  try {
    const done = await work();
    await ending;
    return done;
  } catch (error) {
    await ending;
    tell(explained(error).text);
    throw error;
  } finally {
    leave();
  }
}

/** A file that can't be written any more does not hide the error that it was to tell of. */
function attempt(terminal: Terminal, write: () => void): void {
  try {
    write();
  } catch (error) {
    note(terminal, explained(error).text);
  }
}
