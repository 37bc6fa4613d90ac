import { zip } from "../../lists.ts";
import { dayNumber, isoDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { FAMILY_NAMES } from "../../words.ts";

const SHEETS = ["survey sheets", "tide tables", "harbour plans", "bird counts", "letters", "census lists"] as const;
const HOLDERS = ["cabinet", "chest", "locker"] as const;
const TREES = ["Elm", "Yew", "Ash", "Hazel", "Oak", "Birch", "Alder", "Larch", "Maple", "Willow"] as const;
const CENTURIES = [18, 19] as const;

/** Traps: a name that passes on to another cabinet, papers of a like year, a holder who retires. */
export const surveyKey = defineTemplate(
  { id: "retrieval-survey-key", version: 1, sample: "core-retrieval-survey-key" },
  (random) => {
    const [sheets, holder, century] = [random.pick(SHEETS), random.pick(HOLDERS), random.pick(CENTURIES)];
    const [tens, ones] = random.sample([1, 2, 3, 4, 5, 6, 7, 8, 9], 2);
    const papers = `The ${sheets} of ${century}${tens}${ones}`;
    const others = `The ${sheets} of ${century}${ones}${tens}`;
    const [first, shared, renamed, again, elsewhere] = random.sample(TREES, 5);
    const families = random.sample(FAMILY_NAMES, 6);
    const people = zip(random.people(6), families).map(([given, family]) => `${given} ${family}`);
    const [ofWrong = "", ofRight = "", afterWrong = "", key = "", ofFirst = "", ofElsewhere = ""] = people;
    const given = (name: string, to: string) => `The key to ${holder} ${name} was given to ${to}.`;
    const retired = (who: string, to: string) => `${who} retired; all keys that ${who} kept were given to ${to}.`;
    const rename = (from: string, to: string) =>
      `${holder.charAt(0).toUpperCase()}${holder.slice(1)} ${from} was renamed; it is now called ${holder} ${to}.`;
    const moved = `${papers} were moved to ${holder} ${shared}.`;
    const naming = [rename(shared, renamed), `A new ${holder} was bought and was given the free name ${shared}.`];
    // Either way the name under which the papers were stored belongs to another one in the end.
    const early = random.pick([true, false]);
    const course = [
      ...(early ? [moved, ...naming] : [...naming, moved, rename(shared, again), rename(renamed, shared)]),
      ...random.shuffle([given(shared, ofWrong), given(early ? renamed : again, ofRight)]),
      ...random.shuffle([retired(ofWrong, afterWrong), retired(ofRight, key), given(first, ofFirst)]),
    ];
    const side = [`${others} were moved to ${holder} ${elsewhere}.`, given(elsewhere, ofElsewhere)];
    const texts = [`${papers} lie in ${holder} ${first}.`, ...course];
    for (const text of side) texts.splice(random.int(1, texts.length), 0, text);
    const end = random.int(2029, 2039);
    const step = 250;
    const begin = dayNumber(end, 12, 1) - step * texts.length;
    const dated = texts.map((text, i) => ({ dated: isoDate(begin + step * i + random.int(0, 240)), text }));
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"];
    return {
      prompt: `Answer from the passages in \`input\` alone. In which person's keeping is, at the end of ${end}, the key to the ${holder} in which the ${papers.slice(4)} then lie? Answer with the name of the person alone.`,
      input: { passages: zip(ids, random.shuffle(dated)).map(([id, passage]) => ({ id, ...passage })) },
      output_format: "text",
      grader: { type: "normalized_text" },
      expected_output: [key],
      wrong_answers: people.filter((person) => person !== key),
    };
  },
);
