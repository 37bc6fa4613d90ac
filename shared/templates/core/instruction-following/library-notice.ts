import { lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

/** Who is told of which rooms, and what is told besides; `word` is the one that must occur. */
const SETTINGS = [
  {
    people: "the readers of a small library",
    greeting: "Dear readers",
    team: "library",
    rooms: ["reading room", "map room", "picture book corner"],
    besides: [
      { text: "returns go into the box at the side door", word: "returns" },
      { text: "reserved books wait at the bakery next door", word: "bakery" },
      { text: "newspapers lie in the entrance hall", word: "newspapers" },
    ],
  },
  {
    people: "the members of a rowing club",
    greeting: "Dear rowers",
    team: "club",
    rooms: ["training room", "boat hall", "sauna"],
    besides: [
      { text: "keys hang in the kiosk by the bridge", word: "keys" },
      { text: "oars stand in the shed behind the kiosk", word: "oars" },
      { text: "boats at the jetty may be used all day", word: "jetty" },
    ],
  },
  {
    people: "the parents of a small music school",
    greeting: "Dear parents",
    team: "school",
    rooms: ["concert room", "practice wing", "instrument store"],
    besides: [
      { text: "lessons take place in the town hall", word: "lessons" },
      { text: "violins can be fetched at the porter's lodge", word: "violins" },
      { text: "rehearsals begin an hour later in the gym", word: "rehearsals" },
    ],
  },
  {
    people: "the visitors of a village museum",
    greeting: "Dear visitors",
    team: "museum",
    rooms: ["clock gallery", "weaving room", "costume collection"],
    besides: [
      { text: "tickets stay valid for the whole month", word: "tickets" },
      { text: "guided tours start at the garden gate", word: "tours" },
      { text: "coffee is served in the courtyard", word: "coffee" },
    ],
  },
  {
    people: "the growers of an allotment garden",
    greeting: "Dear gardeners",
    team: "garden",
    rooms: ["clubhouse", "tea room", "seed library"],
    besides: [
      { text: "spades can be borrowed at the gate", word: "spades" },
      { text: "seedlings stand in the greenhouse", word: "seedlings" },
      { text: "compost is handed out one day later", word: "compost" },
    ],
  },
  {
    people: "the guests of a public bath",
    greeting: "Dear swimmers",
    team: "bath",
    rooms: ["steam room", "teaching pool", "quiet lounge"],
    besides: [
      { text: "lost towels are kept at the ticket desk", word: "towels" },
      { text: "season cards stay valid for one day more", word: "cards" },
      { text: "courses move to the outdoor pool", word: "courses" },
    ],
  },
] as const;
const CAUSES = [
  { text: "the boiler is being replaced", word: "boiler" },
  { text: "the ceiling is being painted", word: "ceiling" },
  { text: "the wiring is being renewed", word: "wiring" },
  { text: "the windows are being repaired", word: "windows" },
  { text: "the floor is being sanded", word: "floor" },
  { text: "the smoke detectors are being tested", word: "detectors" },
] as const;
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const TEAMS = ["The # team", "Your # team", "Your friends at the #", "All of us at the #"] as const;
/** Words that such notices are full of, each in a sentence. */
const HABITS = [
  { word: "sorry", sentence: "We are sorry." },
  { word: "unfortunately", sentence: "Unfortunately there is no other way." },
  { word: "inconvenience", sentence: "We know that this is an inconvenience." },
  { word: "regret", sentence: "We regret this very much." },
  { word: "apologise", sentence: "We apologise for the short notice." },
  { word: "understanding", sentence: "We count on your understanding." },
  { word: "please", sentence: "Please tell your friends." },
  { word: "thank", sentence: "We thank you all." },
] as const;
const NUMBERS = ["no", "one", "two", "three"] as const;

/** Traps: the comma after the greeting, the words of habit, the full stop at the end. */
export const libraryNotice = defineTemplate(
  { id: "instructions-library-notice", version: 1, sample: "core-instructions-library-notice" },
  (random) => {
    const { people, greeting, team, rooms, besides } = random.pick(SETTINGS);
    const [room, cause, also, day] = [
      random.pick<string>(rooms),
      random.pick(CAUSES),
      random.pick<{ text: string; word: string }>(besides),
      random.pick(DAYS),
    ];
    const [paragraphs, fewest] = [random.int(2, 3), random.int(36, 55)];
    const most = fewest + random.int(14, 22);
    const closing = random.pick(TEAMS).replace("#", team);
    const include = random.shuffle([day, cause.word, also.word]);
    const habits = random.sample(HABITS, 3);
    const [first, second, third] = habits.map(({ word }) => word);
    const rules = random.shuffle([
      `Exactly ${NUMBERS[paragraphs]} paragraphs, parted by one blank line${paragraphs > 2 ? " each" : ""}.`,
      `${fewest} to ${most} words in all.`,
      `The text begins with “${greeting}” and ends with “${closing}” (no full stop after it).`,
      `It contains the words ${include[0]}, ${include[1]} and ${include[2]}.`,
      "It contains no comma.",
      `It does not contain the words ${first}, ${second} or ${third}.`,
    ]);
    const numbered = [...rules, "No headings and no text around the notice."].map((rule, i) => `${i + 1}. ${rule}`);
    const told = `the ${room} stays closed on ${day} because ${cause.text}.`;
    const aside = `${also.text.slice(0, 1).toUpperCase()}${also.text.slice(1)}.`;
    const gaps = "\n\nMore will follow.".repeat(paragraphs - 2);
    return {
      prompt: lines(
        `Write a notice to ${people}: the ${room} stays closed on ${day} because ${cause.text}; ${also.text}. Rules:`,
        ...numbered,
      ),
      output_format: "text",
      grader: {
        type: "constraints",
        rules: [
          { kind: "exact_paragraphs", n: paragraphs },
          { kind: "min_words", n: fewest },
          { kind: "max_words", n: most },
          { kind: "starts_with", text: greeting },
          { kind: "ends_with", text: closing },
          { kind: "include", words: include },
          { kind: "no_commas" },
          { kind: "exclude", words: habits.map(({ word }) => word) },
        ],
      },
      expected_output: null,
      wrong_answers: [
        `${greeting},\n\n${told} ${aside} Our doors are open again as usual on the day after, from nine in the morning until six in the evening.${gaps}\n\n${closing}`,
        `${greeting}\n${told} ${habits.map(({ sentence }) => sentence).join(" ")} We open again on the day after at nine in the morning.${gaps}\n\n${aside}\n${closing}`,
        `${greeting} ${told}${gaps}\n\n${aside} We open again on the day after at nine in the morning and look forward to all of you.\n${closing}.`,
        `${greeting} ${told} ${aside} We open again on the day after at nine in the morning. ${closing}`,
        `${greeting} ${told}${gaps}\n\n${aside} ${closing}`,
      ],
    };
  },
);
