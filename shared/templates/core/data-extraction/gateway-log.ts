import { drawUntil, type Random } from "../../random.ts";
import { dayNumber, lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const THEMES = [
  { sources: "gateways", source: "gw", one: "request", many: "requests", field: "req" },
  { sources: "relays", source: "relay", one: "message", many: "messages", field: "msg" },
  { sources: "print servers", source: "ps", one: "job", many: "jobs", field: "job" },
  { sources: "tills", source: "till", one: "payment", many: "payments", field: "pay" },
] as const;
const FAILURES = ["error", "timeout", "refused", "aborted"] as const;
/** Notes after a good end that sound bad, and after a bad end that sound good. */
const ALARMS = ["client reported error page", "timeout alarm raised by mistake", "refused upload in another session"];
const COMFORTS = ["user says all is ok", "ok to retry tomorrow", "dashboard shows ok"];
/** Minutes to UTC of the two clocks. */
const OFFSETS = [0, 60, 120, 330, 540, -60, -180, -300] as const;
const HALF_A_DAY = 720;

interface Line {
  id: string;
  /** Seconds since 1970-01-01T00:00Z. */
  at: number;
  source: 0 | 1;
  /** What an attempt came to; a note has none. */
  result?: string;
  note?: string;
  /** Where it stands in the log. */
  place: number;
}

const two = (value: number) => String(value).padStart(2, "0");

/** The local time with its offset, such as `2031-03-09T23:58:44+01:00`. */
function stamp(at: number, offset: number): string {
  const minutes = Math.abs(offset);
  const sign = offset < 0 ? "-" : "+";
  const local = new Date((at + 60 * offset) * 1000).toISOString().slice(0, 19);
  return `${local}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

type Fails = (line: Line) => boolean;

/** The ids whose last line by `rank` fails. */
function failedBy(log: readonly Line[], rank: (line: Line) => number, fails: Fails): string[] {
  const last = new Map<string, Line>();
  for (const line of log) {
    const known = last.get(line.id);
    if (known === undefined || rank(line) > rank(known)) last.set(line.id, line);
  }
  return [...last.values()].filter(fails).map(({ id }) => id);
}

/** How often each id is tried. */
const TRIES = [1, 1, 2, 2, 2, 2, 3] as const;
const SECONDS = Array.from({ length: 50 }, (_, i) => 4 * i);

/**
 * The attempts of the ids within a few minutes of `begin`. The third id ends otherwise by local time, the fourth by the
 * order of the lines, and the fifth well after a failure.
 */
function drawAttempts(
  random: Random,
  ids: readonly string[],
  begin: number,
  failures: readonly string[],
  others: readonly string[],
  ahead: 0 | 1,
) {
  const seconds = random.sample(SECONDS, 13);
  return ids.flatMap((id, i) => {
    const times = seconds.splice(0, TRIES[i] ?? 1).toSorted((a, b) => a - b);
    const mixed = random.shuffle(["ok", random.pick(failures)]);
    const sources = random.shuffle<0 | 1>([0, 1]);
    return times.map((second, n): Line => {
      const at = begin + second;
      const result = i === 4 ? [random.pick(failures), "ok"][n] : i === 2 || i === 3 ? mixed[n] : undefined;
      const source = i === 2 ? (n === 0 ? ahead : ahead === 0 ? 1 : 0) : (sources[n] ?? random.pick([0, 1]));
      const place = i === 3 ? begin + (times.at(-1 - n) ?? 0) : at + random.int(0, 50);
      return { id, at, source, result: result ?? random.pick(["ok", ...failures, ...others]), place };
    });
  });
}

/**
 * Traps: the order of the lines, the clocks' offsets, attempts before the last, bad ends that were not asked for, notes that
 * sound like results.
 */
export const gatewayLog = defineTemplate(
  { id: "extraction-gateway-log", version: 2, sample: "core-extraction-gateway-log" },
  (random) => {
    const { sources, source, one, many, field } = random.pick(THEMES);
    const failures = random.sample(FAILURES, 2);
    const others = FAILURES.filter((result) => !failures.includes(result));
    const offsets = drawUntil(() => {
      const pair = random.sample(OFFSETS, 2);
      return Math.abs(pair[0] - pair[1]) < HALF_A_DAY ? pair : undefined;
    });
    const letter = random.pick(["R", "K", "T", "V"]);
    const ids = random.sample(
      Array.from({ length: 90 }, (_, i) => `${letter}${10 + i}`),
      7,
    );
    // The clock of one source passes midnight.
    const midnight = 86_400 * dayNumber(random.int(2028, 2039), random.int(1, 12), random.int(1, 28));
    const begin = midnight - 60 * random.pick(offsets) - random.int(40, 160);
    const offsetOf = (line: Line) => 60 * offsets[line.source];
    const fails = ({ result = "" }: Line) => failures.some((failure) => failure === result);
    return drawUntil(() => {
      const attempts = drawAttempts(random, ids, begin, failures, others, offsets[0] > offsets[1] ? 0 : 1);
      const key = failedBy(attempts, ({ at }) => at, fails);
      const bad = failedBy(
        attempts,
        ({ at }) => at,
        ({ result }) => result !== "ok",
      );
      if (key.length < 3 || key.length > 5 || bad.length === key.length) return undefined;
      const good = ids.filter((id) => !key.includes(id));
      const notes = [
        { id: random.pick(good), note: random.pick(ALARMS) },
        { id: random.pick(key), note: random.pick(COMFORTS) },
      ].map(({ id, note }): Line => {
        const last = Math.max(...attempts.filter((line) => line.id === id).map(({ at }) => at));
        const at = last + 2 + 4 * random.int(0, 5);
        return { id, at, source: random.pick([0, 1]), note, place: at + random.int(0, 50) };
      });
      const log = [...attempts, ...notes];
      const sounds = (line: Line) => fails(line) || ALARMS.some((alarm) => alarm === line.note);
      const ever = ids.filter((id) => attempts.some((line) => line.id === id && fails(line)));
      const wrong_answers = [
        failedBy(attempts, ({ place }) => place, fails),
        failedBy(attempts, (line) => line.at + offsetOf(line), fails),
        failedBy(log, ({ at }) => at, sounds),
        ever,
        bad,
      ];
      const rows = log
        .toSorted((a, b) => a.place - b.place)
        .map((line) => {
          const what = line.note === undefined ? `result=${line.result}` : `note="${line.note}"`;
          return `${stamp(line.at, offsets[line.source])} ${source}${line.source + 1} ${field}=${line.id} ${what}`;
        });
      return {
        prompt: `The log in \`input\` comes from two ${sources} whose clocks are set to different UTC offsets; the offset stands in each time stamp, and the lines are not in the order of time. A ${one} may be tried several times. It failed in the end if its last attempt, by true time, has the result \`${failures[0]}\` or \`${failures[1]}\`. Lines about anything but the result of an attempt do not count. Give the ids of all ${many} that failed in the end, as a JSON array of strings.`,
        input: { log: lines(...rows) },
        output_format: "json",
        output_schema: { type: "array", items: { type: "string" } },
        grader: { type: "set_f1" },
        expected_output: key,
        wrong_answers,
      };
    });
  },
);
