import { NotThere } from "../../../../shared/verify/log.ts";
import { subjectOf } from "../../../../shared/verify/subject.ts";
import { type Options as Grounds, verify as verified } from "../../../../shared/verify/verify.ts";
import { parseVerifierKey } from "../../../../shared/tlog/note.ts";
import { isProblem, messageOf } from "../../../typescript/src/problem.ts";
import type { Regrading } from "../../../typescript/src/regrade.ts";
import { type Retries, retrying, USUAL } from "../../../typescript/src/retry.ts";
import { type Report, type Step, Unread } from "../../../../shared/verify/trail.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure, reach } from "../failure.ts";
import { waitingOn } from "../progress.ts";
import { regraded, stepOf } from "../regraded.ts";
import { textOf, urlOf } from "../settings.ts";
import { colored, note, plain, print, type Terminal } from "../terminal.ts";

const MARKS = { passed: ["green", "✓"], failed: ["red", "✗"], skipped: ["dim", "–"] } as const;

const KEY = "/log/key";

const LEFT_OPEN = "It could not be looked at to the end: the service does not give what that takes.";
const UNVERIFIED = `Nothing was verified: give the log's key, ${KEY} as it was pinned, by --log-key FILE.`;

/** What the service did not give, and why. */
interface Missed {
  path: string;
  why: string;
  is404: boolean;
}

/** `verify`: checks on this machine what the service signed. */
export const verify = command({
  usage: "verify FILE [--regrade] [--jwks FILE] [--log-key FILE]",
  about:
    "Verifies a statement, a credential, a proof or a checkpoint on this machine; FILE is - for standard input. With --jwks\n" +
    "nothing is asked of the service: the keys are those of the file. Else its keys and its log are read and compared.\n" +
    "--regrade grades what the agent answered again: of a minted task whose epoch has been over for seven days, so that its\n" +
    "secret is published, and where the answer is shown to you.\n" +
    "Exit code 1: it does not hold, or is graded otherwise; 2: it can't be graded again, or FILE keeps a refusal in place of\n" +
    "something signed; 3: what it takes was not given, the log's key or a proof among that, which says nothing against it:\n" +
    "without the log's key nothing of a checkpoint can be verified. A statement that the log does not have yet is checked\n" +
    "without it (0).",
  options: {
    url: SERVICE.url,
    key: SERVICE.key,
    json: SERVICE.json,
    regrade: { type: "boolean", about: "grade the run again" },
    answer: {
      type: "string",
      value: "FILE",
      about: "GET /api/v1/runs/{id}/output, as it was kept, to grade again offline",
    },
    epochs: {
      type: "string",
      value: "FILE",
      about:
        "the page of GET /api/v1/epochs?page_size=100 with the run's epoch, as it was kept, to grade again offline",
    },
    jwks: { type: "string", value: "FILE", about: "the published keys, as they were kept; stays offline" },
    "log-key": { type: "string", value: "FILE", about: "the log's key, as it was pinned" },
  },
  most: 1,
  async run(values, [file], terminal) {
    if (file === undefined) throw new Failure(EXIT.usage, "Give one file, or - for standard input.");
    const text = textOf(file === "-" ? 0 : file);
    refuseRefusal(file, text);
    const pinned = values["log-key"] === undefined ? null : logKeyIn(values["log-key"]);
    const missed: Missed[] = [];
    const grounds: Grounds =
      values.jwks === undefined
        ? await online(urlOf(values.url, terminal), pinned, missed, waitingOn(terminal))
        : { now: new Date(), jwks: keysIn(values.jwks), logKey: pinned, get: null };
    const report = await verified(text, grounds);
    const isOpen = isLeftOpen(report.steps, missed);
    const regrading = values.regrade === true ? await regraded(text, grounds.jwks, values, terminal) : undefined;
    if (values.json === true) {
      print(terminal, JSON.stringify({ ...report, ...(regrading && { regrading }) }));
      if (isUnverified(report)) note(terminal, UNVERIFIED);
    } else show(report, isOpen, regrading, terminal);
    if (isOpen || isUnverified(report)) return EXIT.service;
    if (!report.verified || regrading?.outcome === "differs") return EXIT.failed;
    return regrading?.outcome === "impossible" ? EXIT.usage : EXIT.fine;
  },
});

/** Throws where a file keeps what the service answered in place of something signed, which can neither hold nor fail to. */
function refuseRefusal(file: string, text: string): void {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return;
  }
  if (!isProblem(kept)) return;
  const which = file === "-" ? "That" : file;
  throw new Failure(EXIT.usage, `${which} is nothing signed, but a request that was refused. ${messageOf(kept)}`);
}

/** The log's key in a file. @throws Failure for a file without one, which says nothing of what is to be verified */
function logKeyIn(file: string): string {
  const key = textOf(file).trim();
  try {
    parseVerifierKey(key);
    return key;
  } catch {
    throw new Failure(EXIT.usage, `${file} holds no key of a log: that is a line name+hash+key, as ${KEY} gives it.`);
  }
}

/** The text of a file with published keys. @throws Failure for one without any, as for a log's key */
function keysIn(file: string): string {
  const text = textOf(file);
  try {
    const { keys }: { keys?: unknown } = JSON.parse(text);
    if (Array.isArray(keys)) return text;
  } catch {
    // The same as JSON without keys.
  }
  throw new Failure(EXIT.usage, `${file} holds no keys: give what /.well-known/jwks.json answers.`);
}

/** Whether nothing spoke for it or against it, which is neither a success nor a refusal. */
function isUnverified({ verified: holds, failed }: Report): boolean {
  return !holds && failed === null;
}

/** Whether a step was not gone to its end since the service did not give what it takes, and none was refused. */
function isLeftOpen(steps: readonly Step[], missed: readonly Missed[]): boolean {
  const failed = steps.filter(({ outcome }) => outcome === "failed");
  if (failed.length > 0) return failed.every(({ detail }) => missed.some(({ why }) => why === detail));
  const skipped = steps.filter(({ outcome }) => outcome === "skipped");
  // A step that is not gone without the log's key does not know why there is none.
  return skipped.some(({ name, detail }) =>
    missed.some(({ path, why, is404 }) => !is404 && (detail.includes(why) || (name === "checkpoint" && path === KEY))),
  );
}

/** What is known when the service may be asked; why it did not give something is added to `missed`. */
async function online(url: string, pinned: string | null, missed: Missed[], sleep: Retries["sleep"]): Promise<Grounds> {
  const send = retrying(reach, { ...USUAL, sleep });
  const read = async (path: string, accept: string) => {
    const response = await send(new Request(url + path, { headers: { accept } }));
    if (response.status === 404) throw new NotThere(`${url}${path} answers 404`);
    if (!response.ok) throw new Failure(EXIT.service, `${url}${path} answers ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
  const get = (path: string, accept = "*/*") =>
    read(path, accept).catch((error: unknown) => {
      if (error instanceof Error) missed.push({ path, why: error.message, is404: error instanceof NotThere });
      throw error;
    });
  const [jwks, logKey] = await Promise.all([
    get("/.well-known/jwks.json"),
    pinned === null ? get(KEY).catch(() => null) : pinned,
  ]);
  const decoded = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return {
    now: new Date(),
    jwks: decoded(jwks),
    logKey: logKey === null ? null : (typeof logKey === "string" ? logKey : decoded(logKey)).trim(),
    get: (path, accept) =>
      get(path, accept).catch((error: unknown) => {
        throw error instanceof Failure ? new Unread(error.message) : error;
      }),
  };
}

/** What a report comes to, in words. */
function verdictOf(report: Report, isOpen: boolean, terminal: Terminal): string[] {
  const open = isOpen ? [LEFT_OPEN] : [];
  if (isUnverified(report)) return [...open, UNVERIFIED];
  if (isOpen) return open;
  return [report.verified ? colored(terminal, "green", "It holds.") : colored(terminal, "red", "It does not hold.")];
}

function show(report: Report, isOpen: boolean, regrading: Regrading | undefined, terminal: Terminal): void {
  const { steps, statement, index } = report;
  print(terminal, ...steps.map((step) => lineOf(step, terminal)));
  if (regrading !== undefined) print(terminal, lineOf(stepOf(regrading), terminal));
  print(terminal, "", ...verdictOf(report, isOpen, terminal));
  if (statement !== null) {
    print(terminal, plain(`${statement.type.join(", ")} of ${statement.issuer}, ${statement.validFrom}`));
    print(terminal, ...subjectOf(statement).map(plain));
  }
  if (index !== null) print(terminal, `Entry ${index} of the log.`);
}

function lineOf({ title, outcome, detail }: Pick<Step, "title" | "outcome" | "detail">, terminal: Terminal): string {
  const [color, mark] = MARKS[outcome];
  return `${colored(terminal, color, mark)} ${title}${outcome === "passed" ? "" : `: ${plain(detail)}`}`;
}
