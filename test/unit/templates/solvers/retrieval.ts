import { allGroups, groups, inputOf, numbers, only, type Solver } from "./support.ts";

interface Passage {
  id: string;
  text: string;
}

const timeOf = (date: string) => Date.parse(`${date} 00:00 UTC`);

/** The passage of those that begin so whose first day is the last one that is not after the given day. */
function inForce(passages: readonly Passage[], start: RegExp, day: number): Passage {
  const dated = passages.flatMap((passage) =>
    allGroups(start, passage.text).map(([from = ""]) => ({ passage, from: timeOf(from) })),
  );
  const begun = dated.filter(({ from }) => from <= day).toSorted((a, b) => b.from - a.from);
  const [latest] = begun;
  if (latest === undefined) throw new Error("no rule is in force");
  return latest.passage;
}

const cablewayRefund: Solver = (asked) => {
  const { passages } = inputOf<{ passages: Passage[] }>(asked);
  const [word = "", price, bought = "", used, way, date = ""] = groups(
    /bought an? (\w+)-ride card of .* for (\d+) EUR on (\d+ \w+ \d+), used (\d+) rides, and asked for a refund (at|by) .* on (\d+ \w+ \d+)\./,
    asked.prompt,
  );
  const rides = { six: 6, ten: 10, twelve: 12, twenty: 20 }[word] ?? Number.NaN;
  const tariff = inForce(
    passages,
    /ride cards, tariff valid (?:for cards bought )?from (\d+ \w+ \d+)/g,
    timeOf(bought),
  );
  const handling = inForce(passages, /^Handling .* from (\d+ \w+ \d+)[,:]/g, timeOf(date));
  const [single] = allGroups(/single fare of (\d+) EUR/g, tariff.text);
  const [station, post] = numbers(/a fee of (\d+) EUR .* at a station, (\d+)/, `${handling.text} 0, 0`);
  if (!tariff.text.includes(`divided by ${word}`) && single === undefined) throw new Error("no rule for the refund");
  const refund =
    single === undefined
      ? (Number(price) / rides) * (rides - Number(used))
      : Number(price) - Number(used) * Number(single[0]);
  return { refund_eur: refund - ((way === "at" ? station : post) ?? 0), sources: [tariff.id, handling.id] };
};

const sealantNotes: Solver = (asked) => {
  const { notes } = inputOf<{ notes: Passage[] }>(asked);
  const [name] = groups(/A note counts only if it is about (\w+), in one layer,/, asked.prompt);
  const [warmth = 0, hours = 0, humid = 0] = numbers(
    /at (\d+) °C, it took more than (\d+) hours to cure whenever the air was at (\d+) %/,
    asked.prompt,
  );
  return notes.flatMap(({ id, text }) => {
    const about = notes.filter((note) => new RegExp(`^(Withdrawn:|Correction of) ${id}[.:]`).test(note.text));
    if (about.some((note) => note.text.startsWith("Withdrawn"))) return [];
    const [observation] = allGroups(
      /^([\w ]+), (\w+) layers?, (\d+) °C, humidity (\d+) %: cured after (?:(\d+) h )?(\d+) min\.$/g,
      text,
    );
    if (observation === undefined) return [];
    const [product, layers, degrees, humidity, hour = "", minute] = observation;
    const corrected = (what: string, value: string | undefined) => {
      const found = about.flatMap((note) => allGroups(new RegExp(`the ${what} was (\\d+) `, "g"), note.text));
      return Number(found[0]?.[0] ?? value);
    };
    const holds =
      product === name &&
      layers === "one" &&
      corrected("temperature", degrees) === warmth &&
      corrected("humidity", humidity) >= humid &&
      60 * Number(hour) + Number(minute) > 60 * hours;
    return holds ? [id] : [];
  });
};

/** Goes through the passages by their dates, with a number for each piece of furniture, whatever it is called. */
const surveyKey: Solver = (asked) => {
  const { passages } = inputOf<{ passages: { dated: string; text: string }[] }>(asked);
  const [end = "", holder, papers = ""] = groups(
    /at the end of (\d+), the key to the (\w+) in which the (.+) then lie\?/,
    asked.prompt,
  );
  const [called, keepers] = [new Map<string, number>(), new Map<number, string>()];
  let [pieces, place] = [0, -1];
  const bring = (name: string) => {
    pieces += 1;
    called.set(name, pieces);
    return pieces;
  };
  const piece = (name: string) => called.get(name) ?? bring(name);
  for (const { dated, text } of passages.toSorted((a, b) => Date.parse(a.dated) - Date.parse(b.dated))) {
    if (dated.slice(0, 4) > end) throw new Error("the passage is too late");
    const [lie] = allGroups(new RegExp(`^The ${papers} (?:lie in|were moved to) ${holder} (\\w+)\\.$`, "g"), text);
    if (lie !== undefined) place = piece(lie[0] ?? "");
    for (const [from = "", to = ""] of allGroups(/(\w+) was renamed; it is now called \w+ (\w+)\./g, text)) {
      called.set(to, piece(from));
      called.delete(from);
    }
    for (const [name = ""] of allGroups(/was given the free name (\w+)\./g, text)) bring(name);
    for (const [name = "", to = ""] of allGroups(/^The key to \w+ (\w+) was given to (\w+ \w+)\.$/g, text)) {
      keepers.set(piece(name), to);
    }
    for (const [from, to = ""] of allGroups(/^(\w+ \w+) retired; all keys .* given to (\w+ \w+)\.$/g, text)) {
      for (const [kept, keeper] of keepers) if (keeper === from) keepers.set(kept, to);
    }
  }
  const keeper = keepers.get(place);
  if (keeper === undefined) throw new Error("nobody has the key");
  return keeper;
};

const WORDS = "zero one two three four five six seven eight nine ten eleven".split(" ");

/** What the text says to a question about a hut; null where it says nothing. */
function answerTo(question: string, text: string): number | string | null {
  const [hut = ""] = groups(/(\w+) Hut/, question);
  const find = (pattern: string): string[] | undefined =>
    allGroups(new RegExp(pattern.replaceAll("HUT", `${hut} Hut`), "gm"), text)[0];
  if (question.startsWith("How many beds")) {
    const rooms = find("^HUT has (\\w+) rooms with (\\d+) beds each and a loft with (\\d+) more\\.");
    if (rooms === undefined) return null;
    const gone = find("^The loft of (HUT) was closed .* beds were taken out for good\\.") !== undefined;
    return WORDS.indexOf(rooms[0] ?? "") * Number(rooms[1]) + (gone ? 0 : Number(rooms[2]));
  }
  if (question.startsWith("In which year")) {
    const last = find("^HUT was given its roof .*, and again in (\\d+) ");
    if (last !== undefined) return Number(last[0]);
    const later = find("^HUT was given its roof .* renewed in (\\d+), and again (\\w+) years after that");
    return later === undefined ? null : Number(later[0]) + WORDS.indexOf(later[1] ?? "");
  }
  if (question.startsWith("How many litres")) {
    const compared = find("^The water tank of HUT holds (\\d+) litres (more|less) than that of (\\w+) Hut\\.");
    if (compared === undefined) return null;
    const [difference = "", direction, other = ""] = compared;
    const [litres = 0] = numbers(new RegExp(`^The water tank of ${other} Hut holds (\\d+) litres and`, "m"), text);
    return litres + (direction === "more" ? 1 : -1) * Number(difference);
  }
  if (!question.startsWith("What is the surname of the present warden")) throw new Error(`what is ${question}`);
  const post = find(
    "^The post of warden at HUT went to \\w+ (\\w+) in \\w+ \\d+(?:; she holds it now| and has not changed hands since)\\.",
  );
  return post?.[0] ?? null;
}

const hutQuestions: Solver = (asked) => {
  const text = inputOf<{ passages: Passage[] }>(asked)
    .passages.map((passage) => passage.text)
    .join("\n");
  const questions = allGroups(/^- (q\d): (.+)$/gm, asked.prompt);
  const answers = questions.map(([name = "", question = ""]): [string, number | string | null] => [
    name,
    answerTo(question, text),
  ]);
  only(answers.filter(([, answer]) => answer === null));
  return Object.fromEntries(answers);
};

/** Solvers of the templates of `retrieval`. */
export const retrievalSolvers: Record<string, Solver> = {
  "retrieval-cableway-refund": cablewayRefund,
  "retrieval-sealant-notes": sealantNotes,
  "retrieval-survey-key": surveyKey,
  "retrieval-hut-questions": hutQuestions,
};
