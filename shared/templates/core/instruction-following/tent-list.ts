import { lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

/** Jobs with the words that advice on them wants most, and with words that must occur in it. */
const JOBS = [
  {
    job: "drying a wet tent",
    barred: ["tent", "dry", "water"],
    wanted: ["shade", "zip", "poles", "pegs", "seams", "rope"],
  },
  {
    job: "cleaning a muddy bicycle",
    barred: ["bicycle", "clean", "mud"],
    wanted: ["chain", "brush", "saddle", "pedals", "spokes", "bell"],
  },
  {
    job: "packing a rucksack for the mountains",
    barred: ["rucksack", "pack", "heavy"],
    wanted: ["straps", "bottle", "socks", "pockets", "map", "whistle"],
  },
  {
    job: "sharpening a kitchen knife",
    barred: ["knife", "sharp", "blade"],
    wanted: ["stone", "angle", "towel", "thumb", "wrist", "oil"],
  },
  {
    job: "repotting a house plant",
    barred: ["plant", "pot", "soil"],
    wanted: ["roots", "gravel", "trowel", "saucer", "leaves", "window"],
  },
  {
    job: "storing apples for the winter",
    barred: ["apples", "winter", "store"],
    wanted: ["crates", "straw", "cellar", "stalks", "bruises", "shelf"],
  },
  {
    job: "lighting a wood stove",
    barred: ["stove", "wood", "fire"],
    wanted: ["twigs", "match", "ash", "chimney", "paper", "gloves"],
  },
  {
    job: "washing a woollen jumper",
    barred: ["jumper", "wash", "wool"],
    wanted: ["basin", "soap", "sleeves", "collar", "label", "towel"],
  },
] as const;
/** Small words that hardly any text does without. */
const SMALL = ["and", "the", "it"] as const;
const ENDINGS = [
  "check again tomorrow",
  "look once more later",
  "repeat after two days",
  "take one last look",
  "ask somebody for help",
  "have some tea now",
] as const;
const MARKS = ["-", "*", "•"] as const;
const NUMBERS = new Map([
  [4, "four"],
  [5, "five"],
  [6, "six"],
  [7, "seven"],
]);

/** Traps: capitals at the start of a line, the words that the subject suggests, one that hardly any text does without. */
export const tentList = defineTemplate(
  { id: "instructions-tent-list", version: 1, sample: "core-instructions-tent-list" },
  (random) => {
    const { job, barred, wanted } = random.pick(JOBS);
    const [small, mark, kind] = [
      random.pick(SMALL),
      random.pick(MARKS),
      random.pick(["lowercase", "uppercase"] as const),
    ];
    const cased = (text: string) => (kind === "lowercase" ? text : text.toUpperCase());
    const bullets = random.int(4, 7);
    const most = 8 * bullets + random.int(0, 8);
    const ending = cased(random.pick(ENDINGS));
    const include = random.sample<string, 3>(wanted, 3);
    const exclude = random.shuffle<string>(barred);
    const rules = random.shuffle([
      `Exactly ${NUMBERS.get(bullets)} bullets, each on its own line beginning with “${mark} ”; nothing else before, between or after them.`,
      `The whole text is in ${kind === "lowercase" ? "lower case" : "capitals"}.`,
      `At most ${most} words in all.`,
      `The words ${include[0]}, ${include[1]} and ${include[2]} occur.`,
      `The words ${exclude[0]}, ${exclude[1]} and ${exclude[2]} do not occur, and neither does the word ${small}.`,
      `The last bullet ends with the words “${ending}”, without a full stop.`,
    ]);
    const written = (...items: string[]) => items.map((item) => `${mark} ${item}`).join("\n");
    const fillers = Array.from({ length: bullets - 4 }, () => "go slowly");
    const right = [...include.map((word) => `mind every ${word}`), ...fillers, `wait then ${ending}`].map(cased);
    const [first = "", ...others] = right;
    return {
      prompt: lines(`Write advice for ${job} as a list. Rules:`, ...rules.map((rule, i) => `${i + 1}. ${rule}`)),
      output_format: "text",
      grader: {
        type: "constraints",
        rules: [
          { kind: "starts_with", text: mark },
          { kind: "bullets", n: bullets },
          { kind: "exact_paragraphs", n: 1 },
          { kind },
          { kind: "max_words", n: most },
          { kind: "include", words: include },
          { kind: "exclude", words: [...exclude, small] },
          { kind: "ends_with", text: ending },
        ],
      },
      expected_output: null,
      wrong_answers: [
        written(...right.map((item) => `${item.slice(0, 1).toUpperCase()}${item.slice(1).toLowerCase()}`)),
        ...[...exclude, small].map((word) => written(`${first} ${cased(word)}`, ...others)),
        written(...others),
        written(...right, cased("rest")),
        `${written(...right)}.`,
        `${cased(`advice for ${job}:`)}\n${written(...right)}`,
      ],
    };
  },
);
