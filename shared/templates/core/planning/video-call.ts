import { drawUntil, type Random } from "../../random.ts";
import { clock, dayNumber, longDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const ROOMS = ["Alder", "Birch", "Cedar", "Elder", "Hazel", "Juniper", "Larch", "Maple", "Rowan", "Willow"] as const;
/** The starts of a day, in minutes. */
const QUARTERS = Array.from({ length: 96 }, (_, i) => 15 * i);

interface Span {
  from: number;
  to: number;
}
interface Person {
  name: string;
  /** Local time minus UTC, in minutes. */
  offset: number;
  /** Local times. */
  busy: Span[];
}
interface Call {
  minutes: number;
  hours: Span;
  people: Person[];
  rooms: { name: string; busy: Span[] }[];
}

const free = (busy: readonly Span[], from: number, to: number): boolean =>
  busy.every((taken) => to <= taken.from || from >= taken.to);

/** How a reader takes the clocks: the local time minus UTC, from a person's offset. */
type Clock = (offset: number) => number;

/** The starts in UTC that suit all people. */
function startsFor({ minutes, hours, people }: Omit<Call, "rooms">, local: Clock = (offset) => offset): number[] {
  const suits = (start: number) =>
    people.every(({ offset, busy }) => {
      const from = start + local(offset);
      return from >= hours.from && from + minutes <= hours.to && free(busy, from, from + minutes);
    });
  return QUARTERS.filter(suits);
}

/** The first of the starts at which a room is free, with the names of all that are. */
function firstWithRoom(starts: readonly number[], { minutes, rooms }: Pick<Call, "minutes" | "rooms">) {
  for (const start of starts) {
    const open = rooms.filter(({ busy }) => free(busy, start, start + minutes));
    if (open.length > 0) return { start, open: open.map(({ name }) => name) };
  }
  return undefined;
}

/** Busy times in order, on full quarters from `from` to `to`: one in each of `count` parts. */
function drawBusy(random: Random, from: number, to: number, count: number): Span[] {
  const part = 15 * Math.floor((to - from) / count / 15);
  return Array.from({ length: count }, (_, i) => {
    const begin = from + i * part;
    const start = begin + 15 * random.int(0, Math.floor(part / 30));
    return { from: start, to: Math.min(begin + part, start + 15 * random.int(2, 14)) };
  });
}

function drawPeople(random: Random, names: readonly string[]): Omit<Call, "rooms"> {
  const hours = random.pick([
    { from: 480, to: 1080 },
    { from: 480, to: 1020 },
    { from: 540, to: 1080 },
  ]);
  const east = random.int(1, 4);
  const offsets = random.shuffle([east, random.int(-1, east - 1), -random.int(2, 4)]);
  const people = names.map((name, i) => {
    const offset = 60 * (offsets[i] ?? 0);
    return { name, offset, busy: drawBusy(random, hours.from, hours.to, 2) };
  });
  return { minutes: random.pick([30, 45, 45, 60]), hours, people };
}

/** Traps: local times and UTC, the sign of an offset, a room that is taken; only one room is free at the right time. */
export const videoCall = defineTemplate(
  { id: "planning-video-call", version: 1, sample: "core-planning-video-call" },
  (random) => {
    const names = random.people(3);
    const roomNames = random.sample(ROOMS, 2).toSorted();
    const date = dayNumber(random.int(2028, 2039), random.int(1, 12), random.int(1, 28));
    return drawUntil(() => {
      const meeting = drawPeople(random, names);
      const { minutes, hours, people } = meeting;
      const starts = startsFor(meeting);
      const [roomless = 0] = starts;
      const opens = hours.from - Math.min(...people.map(({ offset }) => offset));
      if (starts.length < 4 || roomless < opens + 30) return undefined;
      // Both rooms are taken when the people could first meet.
      const rooms = roomNames.map((name) => {
        const early = drawBusy(random, opens - 60, roomless + 15, 1);
        const taken = { from: roomless - 15 * random.int(0, 3), to: roomless + 15 * random.int(1, 6) };
        const [late = taken] = drawBusy(random, taken.to + 30, taken.to + 180, 1);
        return { name, busy: [...early.filter(({ to }) => to < taken.from), taken, late] };
      });
      const key = firstWithRoom(starts, { minutes, rooms });
      if (key === undefined || key.open.length !== 1 || key.start === roomless) return undefined;
      const room = key.open[0] ?? "";
      const misread = [() => 0, (offset: number) => -offset].map((local) =>
        firstWithRoom(startsFor(meeting, local), { minutes, rooms }),
      );
      if (misread.some((found) => found?.start === key.start)) return undefined;
      const answer = (start: number, name: string) => ({ start_utc: clock(start), room: name });
      const utc = (span: Span) => [clock(span.from), clock(span.to)];
      return {
        prompt: `Find the earliest time on ${longDate(date)} (UTC) for a video call of ${minutes} minutes. It begins on a full quarter of an hour UTC. Each person in \`input\` must be free for the whole call and inside the working hours ${clock(hours.from)} to ${clock(hours.to)} of the own local time; the busy times of a person are local too, and \`utc_offset_hours\` is local time minus UTC. One of the rooms must also be free for the whole call; the busy times of rooms are in UTC. A call may begin at the very minute at which something else ends, and end when something else begins. Answer with JSON: {"start_utc": "HH:MM", "room": string}.`,
        input: {
          minutes,
          working_hours: utc(hours),
          people: people.map(({ name, offset, busy }) => ({
            name,
            utc_offset_hours: offset / 60,
            busy: busy.map(utc),
          })),
          rooms: rooms.map(({ name, busy }) => ({ name, busy: busy.map(utc) })),
        },
        output_format: "json",
        output_schema: {
          type: "object",
          properties: { start_utc: { type: "string" }, room: { type: "string" } },
          required: ["start_utc", "room"],
        },
        grader: { type: "json_fields" },
        expected_output: answer(key.start, room),
        wrong_answers: [
          ...roomNames.map((name) => answer(roomless, name)),
          ...misread.flatMap((found) => (found === undefined ? [] : [answer(found.start, found.open[0] ?? "")])),
          ...roomNames.filter((name) => name !== room).map((name) => answer(key.start, name)),
        ],
      };
    });
  },
);
