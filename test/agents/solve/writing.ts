import type { Solver } from "./kind.ts";
import { countOf, listed, sentencesOf, wordsOf } from "./text.ts";

/** What a text has to keep to. */
interface Rules {
  minWords: number;
  maxWords: number;
  paragraphs: number | null;
  bullets: number | null;
  opening: string;
  closing: string;
  include: string[];
  exclude: Set<string>;
  noCommas: boolean;
  lowercase: boolean;
}

const FILLERS = [
  "This has been planned with care",
  "Everything else stays as it is",
  "Please tell your friends about it",
  "Our desk will gladly answer questions",
  "We wish you a pleasant week",
  "Thank you for reading this note",
];
const TIPS = ["begin early", "take your time", "go step by step", "use both hands", "keep a steady pace", "look twice"];

/** A text under rules of form that stand in the prompt: its length, its opening and close, words that must or may not occur. */
export const writing: Solver = ({ prompt, output_format }) => {
  if (output_format !== "text" || !/^(?:Write|Draft|Compose)\b/u.test(prompt)) return null;
  const rules = rulesOf(prompt);
  if (rules.bullets === null && rules.paragraphs === null && rules.opening === "") return null;
  const text = rules.bullets === null ? notice(topicOf(prompt), rules) : bulletList(rules.bullets, rules);
  return { output: rules.lowercase ? text.toLowerCase() : text };
};

function rulesOf(prompt: string): Rules {
  const find = (pattern: RegExp) => pattern.exec(prompt)?.slice(1) ?? [];
  const quoted = (verb: string) =>
    find(new RegExp(`\\b${verb} (?:exactly )?with (?:the words? )?[“"](.+?)[”"]`, "u"))[0];
  const [least, most] = find(/\b(\d+) to (\d+) words\b/iu);
  const all = (pattern: RegExp) => [...prompt.matchAll(pattern)].flatMap(([, words = ""]) => listed(words));
  const excluded = [
    ...all(/\bnot contain the words? ([^.;\n]+)/giu),
    ...all(/\bnone of the words ([^.;\n]+)/giu),
    ...all(/\bThe words? ([^.;\n]+?) (?:do|does) not occur/giu),
    ...all(/\bneither does the word (\w+)/giu),
  ];
  return {
    minWords: Number(least ?? find(/\bat least (\d+)\b/iu)[0] ?? 0),
    maxWords: Number(most ?? find(/\bat most (\d+) words\b/iu)[0] ?? Number.POSITIVE_INFINITY),
    paragraphs: countOf(find(/\b(\w+) paragraphs?\b/iu)[0] ?? ""),
    bullets: countOf(find(/\bexactly (\w+) bullets?\b/iu)[0] ?? ""),
    opening: quoted("begins") ?? "",
    closing: quoted("ends") ?? "",
    include: [
      ...all(/(?<!not )\bcontains the words? ([^.;\n]+)/giu),
      ...all(/\bThe words ((?:(?!\bdo not\b)[^.;\n])+?) occur\b/giu),
    ],
    exclude: new Set(excluded.map((word) => word.toLowerCase())),
    noCommas: /\bno commas?\b/iu.test(prompt),
    lowercase: /\blower case\b/iu.test(prompt),
  };
}

/** The facts that the first sentence of the prompt gives after its colon, one by one. */
function topicOf(prompt: string): string[] {
  const [first = ""] = sentencesOf(prompt);
  const facts = first.slice(first.indexOf(":") + 1).split(";");
  return first.includes(":") ? facts.map((fact) => fact.trim()).filter((fact) => fact !== "") : [];
}

function allows({ exclude, noCommas }: Rules, text: string): boolean {
  return !wordsOf(text).some((word) => exclude.has(word)) && !(noCommas && text.includes(","));
}

function notice(topic: readonly string[], rules: Rules): string {
  const known = topic.filter((fact) => allows(rules, fact));
  const lacking = rules.include.filter((word) => !known.some((fact) => wordsOf(fact).includes(word.toLowerCase())));
  const body = [...known, ...lacking.map((word) => `Please mind the word ${word}`)].map(
    (fact) => `${capitalized(fact)}.`,
  );
  const length = () => wordsOf([rules.opening, ...body, rules.closing].join(" ")).length;
  for (const filler of FILLERS) {
    if (length() < rules.minWords && allows(rules, filler)) body.push(`${filler}.`);
  }
  const count = Math.max(1, rules.paragraphs ?? 1);
  const perParagraph = Math.ceil(body.length / count);
  const paragraphs = Array.from({ length: count }, (_, at) =>
    body.slice(at * perParagraph, (at + 1) * perParagraph).join(" "),
  );
  const ends = paragraphs.map((text, at) => [
    at === 0 ? rules.opening : "",
    text,
    at === count - 1 ? rules.closing : "",
  ]);
  return ends.map((parts) => parts.filter((part) => part !== "").join(" ")).join("\n\n");
}

function bulletList(count: number, rules: Rules): string {
  const spare = TIPS.filter((tip) => allows(rules, tip));
  const lines = Array.from({ length: count }, (_, at) => {
    const word = rules.include[at];
    if (at === count - 1 && rules.closing !== "") {
      return [...rules.include.slice(at).map((late) => `mind the ${late}`), rules.closing].join(" then ");
    }
    return word === undefined ? (spare[at % spare.length] ?? "go on") : `mind the ${word}`;
  });
  return [rules.opening, ...lines.map((line) => `- ${rules.lowercase ? line : capitalized(line)}`)]
    .filter((line) => line !== "")
    .join("\n");
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
