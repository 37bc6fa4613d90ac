import { zip } from "../../lists.ts";
import { drawUntil } from "../../random.ts";
import { dayNumber, longDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { PLACES } from "../../words.ts";

const LINES = ["Cableway", "Funicular", "Chairlift", "Rack Railway"] as const;
const CARDS = [
  { rides: 6, word: "six" },
  { rides: 10, word: "ten" },
  { rides: 12, word: "twelve" },
  { rides: 20, word: "twenty" },
] as const;
const WAYS = ["at the valley station", "by post"] as const;
const IDS = ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8"] as const;
const EXTRAS = [
  "Luggage: skis and sledges travel free on all cards; bicycles cost 3 EUR for each ride.",
  "Dogs: a dog needs a ticket of its own at half the single fare; cards are not valid for dogs.",
  "Lost cards: a card that is lost is replaced once, for 6 EUR, if its number is known.",
] as const;

/** Traps: a tariff counts by the day of purchase, a fee by the day of asking; a draft, another product, another way. */
export const cablewayRefund = defineTemplate(
  { id: "retrieval-cableway-refund", version: 1, sample: "core-retrieval-cableway-refund" },
  (random) => {
    const { rides, word } = random.pick(CARDS);
    const line = `${random.pick(PLACES)} ${random.pick(LINES)}`;
    const bought = dayNumber(random.int(2029, 2039), random.int(4, 9), random.int(1, 28));
    const asked = bought + random.int(18, 50);
    const year = Number(longDate(bought).slice(-4));
    // Between purchase and asking a tariff begins: the second or the third.
    const begins = bought + random.int(2, 14);
    const [second, third] = random.pick([
      [bought - random.int(5, 60), begins],
      [begins, begins + random.int(30, 90)],
    ]);
    const raised = asked + random.pick([-1, 1]) * random.int(1, 3);
    const way = random.pick(WAYS);
    const card = `${word.charAt(0).toUpperCase()}${word.slice(1)}-ride cards`;
    return drawUntil(() => {
      const each = random.int(4, 11);
      const [price, used, single] = [rides * each, random.int(3, rides / 2), each + random.int(1, 5)];
      const rules = random.shuffle([
        {
          refund: each * (rides - used),
          text: `unused rides are refunded at the price of the card divided by ${word} for each unused ride`,
        },
        {
          refund: price - used * single,
          text: `on a refund, the rides already used are charged at the single fare of ${single} EUR each and taken off the price of the card; the rest is refunded`,
        },
      ]);
      const [older, newer] = rules;
      const [oldStation, oldPost, station, post] = random.sample([2, 3, 4, 5, 6, 7], 4);
      if (older === undefined || newer === undefined) return undefined;
      if (Math.min(older.refund, newer.refund) < 10) return undefined;
      const fees = [
        {
          at: oldStation,
          by: oldPost,
          text: `Handling of refunds, valid from 1 January ${year - 1}: a fee of ${oldStation} EUR is kept for refunds at a station, ${oldPost} EUR for refunds by post.`,
        },
        {
          at: station,
          by: post,
          text: `Handling of refunds, valid for all refunds asked for from ${longDate(raised)}, replaces the rule of ${year - 1}: a fee of ${station} EUR is kept for refunds at a station, ${post} EUR for refunds by post.`,
        },
      ] as const;
      const tariffs = [
        {
          refund: older.refund,
          text: `${card}, tariff valid for cards bought from 1 January ${year - 2}: ${older.text}.`,
        },
        {
          refund: newer.refund,
          text: `${card}, tariff valid for cards bought from ${longDate(second)}: ${newer.text}.`,
        },
        {
          refund: 0,
          text: `${card}, tariff valid for cards bought from ${longDate(third)}: a card of which more than two rides are used is not refunded.`,
        },
      ] as const;
      const texts = random.shuffle([
        ...tariffs.map(({ text }) => text),
        ...fees.map(({ text }) => text),
        `Season passes, tariff valid from ${longDate(second)}: each month begun counts as used; the rest of the price is refunded.`,
        `Draft for discussion, not in force: the fees for refunds might be lowered to 1 EUR in the summer of ${year + 1}.`,
        random.pick(EXTRAS),
      ]);
      const passages = zip(IDS, texts).map(([id, text]) => ({ id, text }));
      const [tariff, otherTariff] = second <= bought ? [tariffs[1], tariffs[0]] : [tariffs[0], tariffs[1]];
      const [fee, otherFee] = raised <= asked ? [fees[1], fees[0]] : [fees[0], fees[1]];
      type Fee = (typeof fees)[number];
      const kept = (one: Fee) => (way === "by post" ? one.by : one.at);
      const idsOf = (...some: { text: string }[]) =>
        passages.filter(({ text }) => some.some((one) => one.text === text)).map(({ id }) => id);
      const answer = (by: (typeof tariffs)[number], one: Fee) => ({
        refund_eur: Math.max(0, by.refund - kept(one)),
        sources: idsOf(by, one),
      });
      const key = answer(tariff, fee);
      return {
        prompt: `Answer from the passages in \`input\` alone. A passenger bought a ${word}-ride card of the ${line} for ${price} EUR on ${longDate(bought)}, used ${used} rides, and asked for a refund ${way} on ${longDate(asked)}. How much is refunded? Answer with JSON: {"refund_eur": number, "sources": [ids]}, where \`sources\` names exactly the two passages that the amount follows from: the rule for the refund and the rule for the fee.`,
        input: { passages },
        output_format: "json",
        output_schema: {
          type: "object",
          properties: { refund_eur: { type: "number" }, sources: { type: "array", items: { type: "string" } } },
          required: ["refund_eur", "sources"],
        },
        grader: { type: "json_fields", unordered: ["sources"] },
        expected_output: key,
        wrong_answers: [
          answer(otherTariff, fee),
          answer(tariff, otherFee),
          answer(tariffs[2], fee),
          { ...key, refund_eur: tariff.refund - (way === "by post" ? fee.at : fee.by) },
          { ...key, refund_eur: tariff.refund - 1 },
          { ...key, sources: idsOf(tariff, fee, otherFee) },
        ],
      };
    });
  },
);
