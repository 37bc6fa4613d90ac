import { drawUntil, type Random } from "../../random.ts";
import { clock } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { type Call, keyOfCalls, unlike } from "./calls.ts";
import { heatingTools } from "./tools.ts";

/** Rooms, each with the part of it that it is taken for. */
const ROOMS = [
  { name: "reading room", part: "annex" },
  { name: "gym", part: "gallery" },
  { name: "chapel", part: "porch" },
  { name: "kitchen", part: "store" },
  { name: "archive", part: "cellar" },
  { name: "dance hall", part: "stage" },
  { name: "nursery", part: "corridor" },
] as const;
const OTHERS = ["print shop", "workshop", "canteen", "meeting room", "sewing room", "band room", "tea room"] as const;
const HOURS = [
  "twelve",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
] as const;
const SPANS = [
  { minutes: 45, words: "three quarters of an hour" },
  { minutes: 60, words: "an hour" },
  { minutes: 90, words: "an hour and a half" },
  { minutes: 120, words: "two hours" },
  { minutes: 150, words: "two hours and a half" },
] as const;
const ROUNDINGS = [
  { words: "rounded to the nearest half degree", round: Math.round },
  { words: "rounded down to a half degree", round: Math.floor },
  { words: "rounded up to a half degree", round: Math.ceil },
] as const;

interface Period {
  zone_id: string;
  room: string;
  start: number;
  end: number;
  fahrenheit: number;
}

const hourWord = (hour: number): string => HOURS[hour % 12] ?? "";

/** A quarter of an hour in words, such as "a quarter to seven in the morning". */
function spoken(minute: number): string {
  if (minute === 720) return "noon";
  const [hour, rest] = [Math.floor(minute / 60), minute % 60];
  const words =
    rest === 0
      ? hourWord(hour)
      : rest === 45
        ? `a quarter to ${hourWord(hour + 1)}`
        : `${rest === 15 ? "a quarter past" : "half past"} ${hourWord(hour)}`;
  return `${words} in the ${minute < 720 ? "morning" : minute < 1080 ? "afternoon" : "evening"}`;
}

function setPeriod({ zone_id, start, end, fahrenheit }: Period, round: (halves: number) => number): Call {
  // Half degrees are nine to ten of Fahrenheit: no temperature lies between two of them.
  const celsius = round(((fahrenheit - 32) * 10) / 9) / 2;
  return { name: "set_period", arguments: { zone_id, start: clock(start), end: clock(end), celsius } };
}

function drawPeriod(random: Random, zone: { zone_id: string; name: string }, from: number, to: number): Period {
  const start = random.int(from, to) * 15;
  const end = start + random.int(3, 14) * 15;
  return { zone_id: zone.zone_id, room: zone.name, start, end, fahrenheit: random.int(52, 79) };
}

/** Traps: the order of the note is not that of the day, quarters to an hour, the afternoon, the part of a room. */
export const heatingPlan = defineTemplate(
  { id: "tools-heating-plan", version: 2, sample: "core-tools-heating-plan" },
  (random) => {
    const { name: room, part } = random.pick(ROOMS);
    const [first, second] = random.sample(OTHERS, 2);
    const ids = random.sample(
      Array.from({ length: 40 }, (_, i) => `z-${String(i + 1).padStart(2, "0")}`),
      4,
    );
    const zone = (i: number, name: string) => ({ zone_id: ids[i] ?? "", name });
    const [main, annex, used, idle] = [zone(0, room), zone(1, `${room} ${part}`), zone(2, first), zone(3, second)];
    const { words: rounding, round } = random.pick(ROUNDINGS);
    return drawUntil(() => {
      const morning = drawPeriod(random, main, 24, 38);
      const afternoon = drawPeriod(random, main, 50, 76);
      const between = drawPeriod(random, used, 26, 70);
      const noted = random.shuffle([morning, between, afternoon]);
      const due = noted.toSorted((a, b) => a.start - b.start);
      if (new Set(due.map(({ start }) => start)).size < 3 || morning.end >= afternoon.start) return undefined;
      if (noted.every((period, i) => period === due[i])) return undefined;
      // Some time of the note is a quarter to an hour.
      if (!noted.some(({ start }) => start % 60 === 45)) return undefined;
      const right = due.map((period) => setPeriod(period, round));
      const misread = (change: (period: Period) => Period, by = round) =>
        due.map((period) => setPeriod(change(period), by));
      // Whoever rounds as always is right only where that was asked for.
      const others = ROUNDINGS.filter((one) => one.round !== round).map((one) =>
        misread((period) => period, one.round),
      );
      if (
        others.some((calls) => calls.every((call, i) => call.arguments["celsius"] === right[i]?.arguments["celsius"]))
      )
        return undefined;
      const early = (minute: number) => (minute > 720 ? minute - 720 : minute);
      const wrong = [
        noted.map((period) => setPeriod(period, round)),
        ...others,
        misread(
          (period) => period,
          (halves) => 2 * Math.round(halves / 2),
        ),
        misread((period) => ({ ...period, start: early(period.start), end: early(period.end) })),
        misread((period) => ({ ...period, start: period.start + (period.start % 60 === 45 ? 30 : 0) })),
        misread((period) => (period.zone_id === main.zone_id ? { ...period, zone_id: annex.zone_id } : period)),
        misread((period) => (period.zone_id === used.zone_id ? { ...period, zone_id: idle.zone_id } : period)),
      ];
      const seen = new Set<string>();
      const note = noted.map((period) => {
        const again = seen.has(period.room);
        seen.add(period.room);
        const span = SPANS.find(({ minutes }) => minutes === period.end - period.start);
        const until = `until ${spoken(period.end)}`;
        const lasting = span === undefined ? until : random.pick([until, `for ${span.words}`]);
        const name = again ? `the ${period.room} once more,` : `the ${period.room}`;
        const but = !again && period.room === room ? ` (the ${part} not!)` : "";
        return `${name}${but} from ${spoken(period.start)} ${lasting}, ${again ? "at " : ""}${period.fahrenheit} F.`;
      });
      return {
        prompt: `Turn the note in \`input\` into tool calls, one per heating period, in the order in which the periods begin. The note gives temperatures in degrees Fahrenheit; the tool wants Celsius, (F − 32) × 5 / 9, ${rounding}. Times are 24-hour HH:MM. Zones are named by their id.`,
        input: {
          zones: random.shuffle([main, annex, used, idle]),
          note: `For tomorrow: ${note.map((line, i) => (i === 0 ? line : `${line.slice(0, 1).toUpperCase()}${line.slice(1)}`)).join(" ")}`,
        },
        output_format: "tool_calls",
        tools: random.shuffle(heatingTools),
        grader: { type: "tool_calls", order: "strict" },
        expected_output: keyOfCalls(right),
        wrong_answers: unlike(right, wrong),
      };
    });
  },
);
