import * as z from "zod";
import { callTools, type Solver } from "./kind.ts";
import { literal, numberAsAsked } from "./text.ts";
import { WEEKDAYS } from "./time.ts";

const LOG_LINE = /^(\d{4}-\d\d-\d\dT\S+)\s+(.*)$/u;

/** The ids in a log of attempts whose last attempt, by true time, ended in one of the results that the prompt names. */
export const lastAttempts: Solver = ({ prompt, input, output_format }) => {
  const log = z.object({ log: z.string() }).safeParse(input).data?.log;
  if (log === undefined || output_format !== "json" || !/\blast attempt\b/iu.test(prompt)) return null;
  const named = new Set([...prompt.matchAll(/`(\w+)`/gu)].map(([, value = ""]) => value));
  const attempts = log.split("\n").flatMap((line) => {
    const [, time = "", rest = ""] = LOG_LINE.exec(line) ?? [];
    const fields = Object.fromEntries(
      [...rest.matchAll(/(\w+)=(\w+)/gu)].map(([, name = "", value = ""]) => [name, value]),
    );
    const { result, ...ids } = fields;
    const [id] = Object.values(ids);
    return result === undefined || id === undefined ? [] : [{ time: Date.parse(time), id, result }];
  });
  const inOrder = attempts.toSorted((a, b) => a.time - b.time);
  const last = new Map(inOrder.map(({ id, result }) => [id, result]));
  return {
    output: [...last]
      .filter(([, result]) => named.has(result))
      .map(([id]) => id)
      .toSorted(),
  };
};

/**
 * The sum of amounts that a poor scanner read, after its misreadings, which the prompt lists as “O for 0”, are put
 * right. The same number twice is one receipt, and one that is marked VOID anywhere does not count.
 */
export const scannedSum: Solver = ({ prompt, input }) => {
  const lines = z.object({ lines: z.array(z.string()) }).safeParse(input).data?.lines;
  const misread = [...prompt.matchAll(/\b(\p{L}(?: or \p{L})*) for (\d)\b/gu)];
  if (lines === undefined || misread.length === 0 || !/\bsum\b/iu.test(prompt)) return null;
  const digitOf = new Map(
    misread.flatMap(([, letters = "", digit = ""]) => letters.split(" or ").map((letter) => [letter, digit])),
  );
  const pattern = new RegExp(`[${[...digitOf.keys()].map(literal).join("")}]`, "gu");
  const corrected = (text: string) => text.replace(pattern, (letter) => digitOf.get(letter) ?? letter);
  const amounts = new Map<string, number>();
  const voided = new Set<string>();
  for (const line of lines) {
    const [number = "", amount = "", ...marks] = line.trim().split(/\s+/u);
    amounts.set(corrected(number), Number(corrected(amount)));
    if (marks.includes("VOID")) voided.add(corrected(number));
  }
  const counted = [...amounts].filter(([number]) => !voided.has(number)).map(([, amount]) => amount);
  const cents = counted.reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  return Number.isFinite(cents) ? { output: numberAsAsked(prompt, cents / 100) } : null;
};

const Article = z
  .object({
    on_hand: z.number(),
    on_its_way: z.number().default(0),
    reorder_at: z.number(),
    target: z.number(),
    pack_size: z.number().positive(),
    discontinued: z.boolean().default(false),
  })
  .catchall(z.json());
const Stock = z.object({ articles: z.array(Article) });

/** Replenishment by the two-level rule: an article at or below its reorder level is filled up to its target in packs. */
export const replenishment: Solver = ({ input, tools }) => {
  const articles = Stock.safeParse(input).data?.articles;
  const tool = tools?.find(({ name }) => /\border\b/u.test(name.replaceAll("_", " ")));
  if (articles === undefined || tool === undefined) return null;
  const names = Object.keys(z.record(z.string(), z.json()).catch({}).parse(tool.parameters["properties"]));
  const low = articles.filter(
    (article) => !article.discontinued && article.on_hand + article.on_its_way <= article.reorder_at,
  );
  return callTools(
    low.map((article) => {
      const missing = article.target - article.on_hand - article.on_its_way;
      const packs = Math.ceil(missing / article.pack_size);
      const given = names.map((name) => [name, article[name] ?? packs] as const);
      return { name: tool.name, arguments: Object.fromEntries(given) };
    }),
  );
};

/** A crontab schedule for times of the day that share one minute, on a range of weekdays where one is named. */
export const cron: Solver = ({ prompt }) => {
  if (!/\bcron(?:tab)?\b/iu.test(prompt)) return null;
  const times = [...prompt.matchAll(/\b(\d\d):(\d\d)\b/gu)];
  const minutes = new Set(times.map(([, , minute]) => Number(minute)));
  const hours = [...new Set(times.map(([, hour]) => Number(hour)))].toSorted((a, b) => a - b);
  const [minute] = minutes;
  if (minute === undefined || minutes.size > 1) return null;
  const days = new RegExp(`\\b(${WEEKDAYS.join("|")}) to (${WEEKDAYS.join("|")})\\b`, "iu").exec(prompt);
  const [from, to] = (days ?? []).slice(1).map((day) => WEEKDAYS.indexOf(day.toLowerCase()));
  return { output: `${minute} ${hours.join(",")} * * ${from === undefined ? "*" : `${from}-${to}`}` };
};
