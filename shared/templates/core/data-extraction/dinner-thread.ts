import { drawUntil, type Random } from "../../random.ts";
import { clock, dayNumber, isoDate, longDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const ROOMS = [
  "Heron",
  "Orchard",
  "Willow",
  "Garden",
  "Harbour",
  "Lantern",
  "Mill",
  "Terrace",
  "Vault",
  "Ivy",
] as const;
const GUESTS = ["colleagues", "cousins", "neighbours", "singers", "members of the club"] as const;
const FAULTS = [
  "is being painted",
  "has no heating this month",
  "has no light at present",
  "has a broken window",
] as const;
const DELAYS = [
  "Our cook comes in late that week",
  "The lift is being repaired until the evening",
  "The tables are laid for another party before yours",
] as const;
/** What says nothing about the booking, by who may write it. */
const SMALL_TALK = {
  host: [
    "Please send the bill to our office.",
    "The flowers will be there by noon.",
    "Thank you for the quick answers.",
    "We bring our own music.",
  ],
  house: [
    "The wine list is attached.",
    "Do tell us about allergies in time.",
    "There are places to park behind the house.",
    "We look forward to your visit.",
  ],
} as const;
const WORDS = ["none", "one", "two", "three", "four", "five", "six"] as const;

const word = (count: number): string => WORDS[count] ?? "";
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const dayAndMonth = (day: number): string => longDate(day).replace(/ \d+$/, "");

interface Dinner {
  day: number;
  time: number;
  room: string;
  covers: number;
  vegetarian: number;
}
interface Mail {
  by: "host" | "house";
  body: string;
  /** What it changes in the end. */
  change: (dinner: Dinner) => Dinner;
}

const stays = (dinner: Dinner): Dinner => dinner;

function drawPlan(random: Random) {
  const [booked, moved, offered] = random.sample(ROOMS, 3);
  const fewer = random.int(2, 5);
  const more = random.int(3, 6);
  const first: Dinner = {
    day: dayNumber(random.int(2028, 2039), random.int(1, 12), random.int(1, 28)),
    time: 15 * random.int(72, 80),
    room: booked,
    covers: random.int(24, 60),
    vegetarian: random.int(6, 14),
  };
  const change = {
    day: first.day + random.pick([-2, -1, 1, 2, 7]),
    time: first.time + random.pick([15, 30, 45, 60]),
    fewer,
    fewerVegetarian: random.int(1, fewer - 1),
    more,
    moreVegetarian: random.int(1, more),
  };
  return { first, moved, offered, ...change };
}
type Plan = ReturnType<typeof drawPlan>;

/** Four mails about the first booking; those that settle nothing change nothing. */
function middleMails(random: Random, { first, moved, offered, ...plan }: Plan) {
  const [day, time] = [isoDate(plan.day), clock(plan.time)];
  const guests = random.pick(GUESTS);
  const move: Mail = {
    by: "host",
    body: random.pick([
      `Change of plan: the date has to move to ${day}. Everything else stays.`,
      `I am afraid that the date has to move to ${day}; the rest stays as it is.`,
    ]),
    change: (dinner) => ({ ...dinner, day: plan.day }),
  };
  const less: Mail = {
    by: "host",
    body: `${capital(word(plan.fewer))} ${guests} have to drop out, please count ${word(plan.fewer)} fewer covers. ${capital(word(plan.fewerVegetarian))} of the ${word(plan.fewer)} would have eaten vegetarian.`,
    change: (dinner) => ({
      ...dinner,
      covers: dinner.covers - plan.fewer,
      vegetarian: dinner.vegetarian - plan.fewerVegetarian,
    }),
  };
  const offer: Mail = {
    by: "house",
    body: `The ${offered} room would be free too, should you prefer it. Unless I hear so from you, nothing changes.`,
    change: stays,
  };
  const other: Mail = {
    by: "house",
    body: `The ${first.room} room ${random.pick(FAULTS)}, so you are now in the ${moved} room. ${random.pick(DELAYS)}, so we start at ${time}.`,
    change: (dinner) => ({ ...dinner, room: moved, time: plan.time }),
  };
  return { move, less, offer, other };
}

/** Traps: the order of the mails, a mail that is taken back, an offer, vegetarians among those who come and go. */
export const dinnerThread = defineTemplate(
  { id: "extraction-dinner-thread", version: 1, sample: "core-extraction-dinner-thread" },
  (random) => {
    const [host, house] = random.people(2);
    const plan = drawPlan(random);
    const { first, offered, more, moreVegetarian } = plan;
    const mails = middleMails(random, plan);
    const [takesBack, accepts] = [random.pick(["move", "less"] as const), random.pick([true, false])];
    const begin = first.day - random.int(18, 30);
    const opening = `We would like the ${first.room} room on ${isoDate(first.day)} at ${clock(first.time)} for ${first.covers} covers, ${first.vegetarian} of them vegetarian.`;
    const middle = random.shuffle([mails.move, mails.less, mails.offer, mails.other]);
    const gaps = Array.from({ length: 5 }, () => random.int(1, 2));
    const sentDay = (place: number) => gaps.slice(0, place).reduce((sum, gap) => sum + gap, begin);
    const takenBack = mails[takesBack];
    const reason = takesBack === "move" ? "the first date is the right one" : "everybody comes";
    const joiners = moreVegetarian === more ? "all vegetarian" : `${word(moreVegetarian)} of them vegetarian`;
    const closing: Mail = {
      by: "host",
      body: `Forget my mail of ${dayAndMonth(sentDay(1 + middle.indexOf(takenBack)))}, ${reason} after all. ${capital(word(more))} more guests join us, ${joiners}. ${accepts ? `Please give us the ${offered} room that you offered.` : "I like the room that you moved us to."}`,
      change: (dinner) => ({
        ...dinner,
        covers: dinner.covers + more,
        vegetarian: dinner.vegetarian + moreVegetarian,
        room: accepts ? offered : dinner.room,
      }),
    };
    const thread: Mail[] = [{ by: "host", body: opening, change: stays }, ...middle, closing];
    const talk = { host: random.pick(SMALL_TALK.host), house: random.pick(SMALL_TALK.house) };
    const talkative = [random.pick([mails.move, mails.less]), random.pick([mails.offer, mails.other])];
    const sent = thread.map((mail, place) => ({
      sent: `${isoDate(sentDay(place))}T${clock(5 * random.int(96, 228))}`,
      from: mail.by === "host" ? `${host} (host)` : `${house} (restaurant)`,
      body: talkative.includes(mail) ? `${mail.body} ${talk[mail.by]}` : mail.body,
    }));
    const settled = (held: (mail: Mail) => boolean) => {
      const { day, time, room, covers, vegetarian } = thread
        .filter(held)
        .reduce((dinner, { change }) => change(dinner), first);
      return { date: isoDate(day), time: clock(time), room, covers, vegetarian };
    };
    const key = settled((mail) => mail !== takenBack);
    const otherRoom = accepts ? plan.moved : offered;
    return {
      prompt:
        'The mails in `input` are about one dinner and are not in the order in which they were sent. A later mail overrides an earlier one, but only in what it changes. What holds in the end? Answer with JSON: {"date": "YYYY-MM-DD", "time": "HH:MM", "room": string, "covers": integer, "vegetarian": integer}. `covers` is the number of all guests, vegetarians included; `room` is the name of the room alone.',
      input: {
        mails: drawUntil(() => {
          const order = random.shuffle(sent);
          return order.at(-1) === sent.at(-1) || order[0] === sent[0] ? undefined : order;
        }),
      },
      output_format: "json",
      output_schema: {
        type: "object",
        properties: {
          date: { type: "string" },
          time: { type: "string" },
          room: { type: "string" },
          covers: { type: "integer" },
          vegetarian: { type: "integer" },
        },
        required: ["date", "time", "room", "covers", "vegetarian"],
      },
      grader: { type: "json_fields" },
      expected_output: key,
      wrong_answers: [
        settled(() => true),
        settled((mail) => mail !== mails.move && mail !== mails.less),
        settled((mail) => mail !== takenBack && mail !== mails.other),
        settled((mail) => mail !== takenBack && mail !== closing),
        { ...key, room: otherRoom },
        { ...key, vegetarian: key.vegetarian - moreVegetarian },
      ],
    };
  },
);
