import type { Random } from "../../random.ts";
import { clock, dayNumber, isoDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { type Call, keyOfCalls, unlike } from "./calls.ts";
import { potteryTools } from "./tools.ts";

const HOUSES = [
  { house: "a pottery studio", workshops: ["wheel throwing", "glazing", "hand building", "slip casting"] },
  { house: "a weaving mill", workshops: ["band weaving", "natural dyeing", "felting", "spinning"] },
  { house: "a cookery school", workshops: ["sourdough", "pasta", "pickling", "knife skills"] },
  { house: "a bookbindery", workshops: ["paper marbling", "box making", "letterpress", "gilding"] },
  { house: "a glassworks", workshops: ["bead making", "fusing", "engraving", "glass blowing"] },
] as const;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const GREETINGS = ["Hello", "Good morning", "Dear team", "Hi"] as const;
const DAY = 1440;

/** Minutes since 1970 as local time. */
const local = (minute: number): string => `${isoDate(Math.floor(minute / DAY))}T${clock(minute)}`;
const weekday = (minute: number): string => WEEKDAYS[(Math.floor(minute / DAY) + 4) % 7] ?? "";

/** What the customer wishes for: its words, the call that does it, and calls that misread the words. */
interface Wish {
  words: string;
  done: Call;
  misread: Call[];
  notice: string;
}

function move(random: Random, booking_id: string, start: number, received: number): Wish {
  const to = (minute: number): Call => ({ name: "move_booking", arguments: { booking_id, start: local(minute) } });
  const [days, hours] = [random.int(1, 6), random.pick([0, 0, 1, 2, -1, -2])];
  const target = start + DAY * days;
  const next = [1, 2, 3, 4, 5, 6, 7]
    .map((ahead) => received + DAY * ahead)
    .find((day) => weekday(day) === weekday(target));
  const nextDay = DAY * Math.floor((next ?? target) / DAY) + (start % DAY) + 60 * hours;
  const count = Math.abs(hours) === 1 ? "one hour" : "two hours";
  const when = hours === 0 ? "at the same time of day" : `${count} ${hours > 0 ? "later" : "earlier"} in the day`;
  return {
    words: `Please put me into the one on the ${weekday(target)} after it, ${when}.`,
    done: to(target + 60 * hours),
    misread: [to(nextDay), to(target - 60 * hours), to(target + 7 * DAY + 60 * hours)],
    notice: "booking_moved",
  };
}

function cancel(random: Random, booking_id: string): Wish {
  return {
    words: random.pick(["Please take me off the list for good.", "Please call my place off, I need no other one."]),
    done: { name: "cancel_booking", arguments: { booking_id } },
    misread: [],
    notice: "booking_cancelled",
  };
}

/** Traps: what counts is when the message came, not what time it is now; another class that day; a namesake of the class. */
export const rebookWorkshop = defineTemplate(
  { id: "tools-rebook-workshop", version: 1, sample: "core-tools-rebook-workshop" },
  (random) => {
    const { house, workshops } = random.pick(HOUSES);
    const [workshop, other] = random.sample<string, 2>(workshops, 2);
    const [name] = random.people(1);
    const [customer_id, stranger] = random.codes("C", 2);
    const [wanted, kept, later, strange] = random.codes("B", 4);
    const start = DAY * (dayNumber(2030, 1, 1) + random.int(0, 1400)) + 60 * random.int(8, 11) + 15 * random.int(0, 3);
    const otherStart = start + 60 * random.int(4, 7);
    const [limit, charged] = [random.pick([24, 36, 48, 60, 72]), random.pick([true, false])];
    const last = start - 60 * limit;
    const received = charged ? last + random.int(1, 150) : last - random.pick([0, random.int(1, 150)]);
    const now = charged ? received + random.int(15, 170) : last + random.int(5, 170);
    const [moveFee, cancelFee] = random.sample(
      Array.from({ length: 36 }, (_, i) => i + 5),
      2,
    );
    const moved = random.pick([true, true, false]);
    const wish = moved ? move(random, wanted, start, received) : cancel(random, wanted);
    const fee = (amount_eur: number): Call => ({ name: "charge_fee", arguments: { customer_id, amount_eur } });
    const notify = (template: string): Call => ({ name: "notify_customer", arguments: { customer_id, template } });
    const [own, others] = moved ? [moveFee, cancelFee] : [cancelFee, moveFee];
    const right = charged ? [fee(own), wish.done] : [wish.done, notify(wish.notice)];
    const change = (done: Call): Call[] => right.map((call) => (call === wish.done ? done : call));
    const of = (booking_id: string): Call => ({
      ...wish.done,
      arguments: { ...wish.done.arguments, booking_id },
    });
    const opposite: Call = moved
      ? { name: "cancel_booking", arguments: { booking_id: wanted } }
      : { name: "move_booking", arguments: { booking_id: wanted, start: local(start + 7 * DAY) } };
    const wrong = [
      charged ? [wish.done, notify(wish.notice)] : [fee(own), wish.done],
      [fee(own), wish.done, notify(wish.notice)],
      [fee(own), wish.done, notify("fee_charged")],
      [wish.done],
      ...(charged ? [[fee(others), wish.done]] : []),
      ...[kept, later, strange].map((booking) => change(of(booking))),
      ...wish.misread.map(change),
      change(opposite),
      right.toReversed(),
    ];
    const booking = (booking_id: string, customer: string, held: string, at: number) => ({
      booking_id,
      customer_id: customer,
      workshop: held,
      start: local(at),
      weekday: weekday(at),
    });
    return {
      prompt: `You run the bookings of ${house}. Do what the customer's message in \`input\` asks, by the house's policy, with the tools. All times are local time. Make only calls that are needed, in this order: a fee where one is due, then the booking, then the notice to the customer where one is due.`,
      input: {
        now: local(now),
        policy: [
          "A booking is moved or cancelled only on the customer's own wish.",
          `A move costs ${moveFee} EUR, and a cancellation ${cancelFee} EUR, if the message came in less than ${limit} hours before the start of the booked workshop; otherwise it is free.`,
          "After a free change the customer gets one notice. After one that costs a fee no notice is sent: the bill says it all.",
        ],
        message: {
          received: local(received),
          customer_id,
          text: `${random.pick(GREETINGS)}, I cannot come to the ${workshop} class this ${weekday(start)}. ${wish.words} My ${other} class stays as it is. Thanks, ${name}`,
        },
        bookings: random.shuffle([
          booking(wanted, customer_id, workshop, start),
          booking(kept, customer_id, other, otherStart),
          booking(later, customer_id, workshop, start + 7 * DAY * random.int(1, 2)),
          booking(strange, stranger, workshop, start),
        ]),
      },
      output_format: "tool_calls",
      tools: random.shuffle(potteryTools),
      grader: { type: "tool_calls", order: "strict" },
      expected_output: keyOfCalls(right),
      wrong_answers: unlike(right, wrong),
    };
  },
);
