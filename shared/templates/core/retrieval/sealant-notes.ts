import { drawUntil } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const PRODUCTS = ["sealant", "varnish", "glue", "primer", "floor oil"] as const;
const NAMES = ["Velum", "Corvax", "Tessol", "Brimal", "Luxar", "Ondra", "Pelvit", "Sornal"] as const;
const OTHERS = ["Plus", "Extra", "Rapid", "Light"] as const;
const MISHAPS = [
  "The door of the chamber stood open.",
  "The clock had stopped in the night.",
  "The sample was moved before it had cured.",
] as const;

interface Note {
  /** A name by which other notes can speak of it until the notes are numbered. */
  label: string;
  text: string;
}

/** Traps: notes that others withdraw or correct, minutes for hours, values on the bound, and a product of a like name. */
export const sealantNotes = defineTemplate(
  { id: "retrieval-sealant-notes", version: 1, sample: "core-retrieval-sealant-notes" },
  (random) => {
    const [name, product]: [string, string] = [random.pick(NAMES), random.pick(PRODUCTS)];
    const [warmth, humid, hours] = [random.int(16, 24), 5 * random.int(11, 16), random.int(6, 14)];
    const above = () => humid + random.int(1, 15);
    const below = () => humid - random.int(1, 9);
    const long = () => `${hours + random.int(0, 4)} h ${random.int(10, 59)} min`;
    const inMinutes = () => `${60 * hours + random.int(5, 40)} min`;
    const observed = (
      label: string,
      { of = name, layers = "one layer", degrees = warmth, humidity = above(), took = long() } = {},
    ): Note => ({ label, text: `${of}, ${layers}, ${degrees} °C, humidity ${humidity} %: cured after ${took}.` });
    const correction = (label: string, what: string, right: string, wrong: string): Note => ({
      label,
      text: `Correction of #${label.slice(1)}: the ${what} was ${right}, not ${wrong}.`,
    });
    const [wet, dry, fallen, claimed] = [above(), below(), below(), above()];
    const [harmless, raised] = drawUntil(() => {
      const [before, after] = [above(), above()];
      return before === after ? undefined : [before, after];
    });
    const cool = warmth - random.int(4, 9);
    const byHumidity = random.pick([true, false]);
    const valid = [
      ...Array.from({ length: random.int(1, 2) }, (_, i) => observed(`clean${i}`)),
      observed("bound", { humidity: humid, took: inMinutes() }),
      observed("harmless", { humidity: harmless }),
      byHumidity ? observed("mended", { humidity: dry }) : observed("mended", { degrees: cool }),
    ];
    const decoys = [
      observed("withdrawn"),
      observed("spoilt", { humidity: claimed }),
      observed("other", { of: `${name} ${random.pick(OTHERS)}` }),
      observed("short", { took: `${60 * hours - random.int(3, 25)} min` }),
      ...random.sample(
        [
          observed("dry", { humidity: below() }),
          observed("layers", { layers: "two layers" }),
          observed("cool", { degrees: warmth - random.int(4, 9) }),
        ],
        2,
      ),
    ];
    const remarks = [
      { label: "-withdrawn", text: `Withdrawn: #withdrawn. ${random.pick(MISHAPS)}` },
      correction("-spoilt", "humidity", `${fallen} %`, `${claimed} %`),
      correction("-harmless", "humidity", `${raised} %`, `${harmless} %`),
      byHumidity
        ? correction("-mended", "humidity", `${wet} %`, `${dry} %`)
        : correction("-mended", "temperature", `${warmth} °C`, `${cool} °C`),
    ];
    const order = random.shuffle([...valid, ...decoys, ...remarks]);
    const ids = new Map(order.map(({ label }, i) => [label, `N${i + 1}`]));
    const idOf = (label: string) => ids.get(label) ?? "";
    const key = valid.map(({ label }) => idOf(label));
    const without = (label: string) => key.filter((id) => id !== idOf(label));
    return {
      prompt: `A claim about the ${product} “${name}”: “Applied in one layer at ${warmth} °C, it took more than ${hours} hours to cure whenever the air was at ${humid} % humidity or above.” Which of the laboratory notes in \`input\` are valid observations that bear this claim out? A note counts only if it is about ${name}, in one layer, at ${warmth} °C and at ${humid} % humidity or above, if the cure took more than ${hours} hours, and if no other note withdraws or corrects it so that this no longer holds; a note that is corrected counts with its corrected value. Notes that merely withdraw or correct do not count themselves. Answer with the ids of the notes as a JSON array of strings.`,
      input: {
        notes: order.map(({ label, text }) => ({
          id: idOf(label),
          text: text.replace(/#(\w+)/, (_, of: string) => idOf(of)),
        })),
      },
      output_format: "json",
      output_schema: { type: "array", items: { type: "string" } },
      grader: { type: "set_f1" },
      expected_output: key,
      wrong_answers: [
        ...["withdrawn", "spoilt", "other", "short", "-mended"].map((label) => [...key, idOf(label)]),
        ...["bound", "mended", "harmless"].map(without),
      ],
    };
  },
);
