import { drawUntil } from "../../templates/random.ts";
import { lines, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";
import { GOODS, PLACES } from "../../templates/words.ts";

const NOTICES = [
  { topic: "the lift will be out of service", words: ["lift", "stairs", "engineer", "ground", "inspection", "cables"] },
  { topic: "the water will be turned off", words: ["water", "valve", "plumber", "buckets", "cellar", "pressure"] },
  {
    topic: "the courtyard will be repaved",
    words: ["courtyard", "stones", "entrance", "parking", "noise", "bicycles"],
  },
  { topic: "the windows will be cleaned", words: ["windows", "ladder", "blinds", "balcony", "flowers", "access"] },
] as const;
const BANNED = [
  "please",
  "sorry",
  "unfortunately",
  "inconvenience",
  "thank",
  "shall",
  "very",
  "important",
  "kindly",
] as const;

const residentsNotice = defineTemplate(
  {
    id: "residents-notice",
    title: "A notice under strict rules",
    domain: "instruction_following",
    output_format: "text",
    reference_cost_usd: 0.005,
    reference_latency_ms: 7000,
  },
  (random) => {
    const [place] = random.sample(PLACES, 1);
    const [manager] = random.companies(1);
    const { topic, words } = random.pick(NOTICES);
    const include = random.sample(words, 3);
    const exclude = random.sample(BANNED, 3);
    const bullets = random.int(3, 5);
    const fewest = random.int(55, 70);
    const most = fewest + random.int(12, 18);
    const opening = `To everybody at ${place}:`;
    const closing = `Your team at ${manager}.`;
    return {
      prompt: prose(
        `Write a notice to the residents of a house that ${topic} for a day of your choice. It begins exactly with`,
        `"${opening}" and ends exactly with "${closing}". It has at least ${fewest} and at most ${most} words, all lines counted.`,
        `It has exactly ${bullets} bullet lines, each of which starts with "- "; no other line starts with a dash or a star.`,
        `It contains the words ${include.join(", ")}, and none of the words ${exclude.join(", ")}. It contains no comma.`,
        "Answer with the notice alone.",
      ),
      grader: {
        type: "constraints",
        rules: [
          { kind: "starts_with", text: opening },
          { kind: "ends_with", text: closing },
          { kind: "min_words", n: fewest },
          { kind: "max_words", n: most },
          { kind: "bullets", n: bullets },
          { kind: "include", words: include },
          { kind: "exclude", words: exclude },
          { kind: "no_commas" },
        ],
      },
      expected_output: null,
    };
  },
);

const pickList = defineTemplate(
  {
    id: "pick-list",
    title: "A list in an exact form",
    domain: "instruction_following",
    output_format: "text",
    reference_cost_usd: 0.006,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [warehouse] = random.companies(1);
    const aisles = random.sample(["A", "B", "C", "D", "E", "F"] as const, 3);
    return drawUntil(() => {
      const least = random.int(4, 9);
      const items = random.sample(GOODS, 9).map((name) => ({
        name,
        aisle: random.pick(aisles),
        quantity: least + random.int(-2, 5),
        fragile: random.pick([true, false, false]),
      }));
      const listed = items
        .filter(({ quantity }) => quantity >= least)
        .toSorted((a, b) =>
          a.aisle !== b.aisle ? (a.aisle < b.aisle ? -1 : 1) : b.quantity - a.quantity || (a.name < b.name ? -1 : 1),
        );
      const rows = listed.map(({ name, aisle, quantity, fragile }, i) => {
        const place = i + 1 - listed.findIndex((item) => item.aisle === aisle);
        return `${aisle}${String(place).padStart(2, "0")} ${name.toUpperCase()} x${quantity}${fragile ? " !" : ""}`;
      });
      const ties = listed.filter(
        (item, i) => item.aisle === listed[i + 1]?.aisle && item.quantity === listed[i + 1]?.quantity,
      );
      if (listed.length < 6 || listed.length > 8 || ties.length === 0) return undefined;
      return {
        prompt: prose(
          `Write the pick list of ${warehouse} from the items of the input. Leave out items with a quantity below ${least}.`,
          "Sort by aisle (A to Z), then by quantity (largest first), then by name (A to Z). Each item is one line: the aisle,",
          "directly followed by a running number of two digits that starts again at 01 in each aisle, a space, the name in",
          "capital letters, a space, a small x directly followed by the quantity; on fragile items also a space and an",
          "exclamation mark. The last line is the word SUM, a space and the sum of the quantities listed. No empty lines;",
          "answer with these lines and nothing else.",
        ),
        input: { items },
        grader: { type: "exact" },
        expected_output: lines(...rows, `SUM ${listed.reduce((sum, { quantity }) => sum + quantity, 0)}`),
      };
    });
  },
);

const LAST_WORDS = ["lantern", "harbour", "winter", "copper", "orchard", "signal", "bridge", "thunder"] as const;

const letterLines = defineTemplate(
  {
    id: "letter-lines",
    title: "Lines that begin as told",
    domain: "instruction_following",
    output_format: "text",
    reference_cost_usd: 0.004,
    reference_latency_ms: 5000,
  },
  (random) => {
    const [place] = random.sample(PLACES, 1);
    const letters = random.sample("ABCDEFGHILMNOPRSTW".split(""), 5);
    const counts = letters.map(() => random.int(4, 7));
    const ending = random.int(2, 5);
    const last = random.pick(LAST_WORDS);
    const patterns = letters.map((letter, i) => {
      const words = (counts[i] ?? 0) - 1;
      const rest = i === ending - 1 ? `(?: [A-Za-z]+){${words - 1}} ${last}` : `(?: [A-Za-z]+){${words}}`;
      return `${letter}[A-Za-z]*${rest}\\.`;
    });
    return {
      prompt: prose(
        `Write five lines about a morning in ${place}. The lines begin with the letters`,
        `${letters.join(", ")}, in this order, as capitals, and have ${counts.join(", ")} words, in this order. The last word of`,
        `line ${ending} is "${last}". Each line ends with a full stop, and apart from that there are only words of the letters`,
        "a to z, with single spaces between them: no other punctuation, no digits, no empty lines. Answer with the five lines",
        "and nothing else.",
      ),
      grader: { type: "regex", pattern: `^\\s*${patterns.join("\\n")}\\s*$` },
      expected_output: null,
    };
  },
);

/** Templates of the domain `instruction_following`. */
export const instructionFollowingTemplates = [residentsNotice, pickList, letterLines];
