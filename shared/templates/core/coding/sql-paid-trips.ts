import { drawUntil, type Random } from "../../random.ts";
import { lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { FIRST_NAMES, PLACES } from "../../words.ts";

const BIRDS = ["Tern", "Plover", "Dunlin", "Knot", "Eider", "Curlew", "Gannet", "Petrel", "Fulmar", "Osprey"] as const;
const INNS = ["Anchor", "Bell", "Crown", "Drake", "Falcon", "Grapes", "Mitre", "Pelican", "Ram", "Swan"] as const;

/** Two tables: what has a name and a home, and what belongs to it with a status and an amount. */
const THEMES = [
  { owner: "boat", many: "boats", item: "trips", home: "home", amount: "fee", result: "paid", names: BIRDS },
  { owner: "guide", many: "guides", item: "walks", home: "town", amount: "tip", result: "tipped", names: FIRST_NAMES },
  { owner: "inn", many: "inns", item: "stays", home: "quarter", amount: "rent", result: "rented", names: INNS },
  { owner: "van", many: "vans", item: "rounds", home: "depot", amount: "toll", result: "tolled", names: FIRST_NAMES },
] as const;
const STATUSES = ["done", "cancelled"] as const;

interface Tables {
  owners: { id: number; name: string; home: string | null }[];
  items: { owner: number; status: string; amount: number | null }[];
  barred: string;
}
interface Query {
  distinct: boolean;
  descending: boolean;
}

/** How a careless reader takes SQL to be. */
interface Misreading {
  /** A row without an amount is counted, also the one that an outer join makes up. */
  nulls?: boolean;
  /** `<>` keeps a home of NULL. */
  nowhere?: boolean;
  /** Owners without a row of the status drop out. */
  inner?: boolean;
  /** Rows of any status are joined. */
  any?: boolean;
}

/** The result of the query. */
function select(
  { owners, items, barred }: Tables,
  { distinct, descending }: Query,
  { nulls, nowhere, inner, any }: Misreading = {},
): [string, number][] {
  const rows = owners.flatMap(({ id, name, home }): [string, number][] => {
    const joined = items.filter((item) => item.owner === id && (any || item.status === STATUSES[0]));
    if (home === barred || (home === null && !nowhere) || (inner && joined.length === 0)) return [];
    const amounts = joined.map(({ amount }) => amount).filter((amount) => nulls || amount !== null);
    const counted = distinct ? new Set(amounts).size : amounts.length;
    return [[name, nulls ? Math.max(1, counted) : counted]];
  });
  const sign = descending ? -1 : 1;
  return rows.toSorted(([a, m], [b, n]) => sign * (m - n) || (a < b ? -1 : 1));
}

function drawTables(random: Random, names: readonly string[]): Tables {
  const [usual, other, barred] = random.sample(PLACES, 3);
  const homes = random.shuffle([usual, usual, other, barred, null]);
  const owners = random.sample(names, 5).map((name, i) => ({ id: i + 1, name, home: homes[i] ?? null }));
  const idOf = (...wanted: (string | null)[]) =>
    random.shuffle(owners.filter(({ home }) => wanted.includes(home)).map(({ id }) => id));
  const [[busy = 0, idle = 0, third = 0], [homeless = 0], [away = 0]] = [idOf(usual, other), idOf(null), idOf(barred)];
  const [done, cancelled] = STATUSES;
  const amount = () => 5 * random.int(2, 12);
  const twice = amount();
  const item = (owner: number, status: (typeof STATUSES)[number], one: number | null) => ({
    owner,
    status,
    amount: one,
  });
  const items = [
    item(busy, done, twice),
    item(busy, done, twice),
    item(busy, done, null),
    item(idle, cancelled, amount()),
    item(third, done, random.pick([0, amount()])),
    item(homeless, done, amount()),
    item(away, done, amount()),
    item(random.pick([busy, third, third]), random.pick(STATUSES), amount()),
    item(random.int(1, 5), random.pick(STATUSES), random.pick([null, 0, amount()])),
    item(random.pick([busy, third]), random.pick(STATUSES), amount()),
  ];
  return { owners, items: random.shuffle(items).toSorted((a, b) => a.owner - b.owner), barred };
}

/** Traps: NULL is neither counted nor different from anything, an outer join keeps owners without a row. */
export const sqlPaidTrips = defineTemplate(
  { id: "coding-sql-paid-trips", version: 1, sample: "core-coding-sql-paid-trips" },
  (random) => {
    const theme = random.pick(THEMES);
    const query: Query = { distinct: random.pick([true, false]), descending: random.pick([true, false]) };
    return drawUntil(() => {
      const tables = drawTables(random, theme.names);
      const key = select(tables, query);
      const readings: Misreading[] = [{ nulls: true }, { nowhere: true }, { inner: true }, { any: true }];
      const wrong = readings.map((reading) => select(tables, query, reading));
      const another = select(tables, { ...query, distinct: !query.distinct });
      if (wrong.some((rows) => JSON.stringify(rows) === JSON.stringify(key))) return undefined;
      if (query.distinct && JSON.stringify(another) === JSON.stringify(key)) return undefined;
      if (Math.max(...key.map(([, count]) => count)) < 2) return undefined;
      const { owner, many, item, home, amount, result } = theme;
      const [o, i] = [many.slice(0, 1), item.slice(0, 1)];
      const first = random.int(11, 70);
      return {
        prompt: lines(
          `The tables \`${many}\` and \`${item}\` hold the rows in \`input\` (null is SQL NULL). Which rows does this query give, by standard SQL?`,
          "",
          `SELECT ${o}.name, COUNT(${query.distinct ? "DISTINCT " : ""}${i}.${amount}) AS ${result}`,
          `FROM ${many} ${o}`,
          `LEFT JOIN ${item} ${i} ON ${i}.${owner}_id = ${o}.id AND ${i}.status = '${STATUSES[0]}'`,
          `WHERE ${o}.${home} <> '${tables.barred}'`,
          `GROUP BY ${o}.id, ${o}.name`,
          `ORDER BY ${result}${query.descending ? " DESC" : ""}, ${o}.name;`,
          "",
          `Answer with JSON: {"rows": [[name, ${result}], …]}, the rows in the order of the query.`,
        ),
        input: {
          [many]: tables.owners.map((row) => ({ id: row.id, name: row.name, [home]: row.home })),
          [item]: tables.items.map((row, n) => ({
            id: first + n,
            [`${owner}_id`]: row.owner,
            status: row.status,
            [amount]: row.amount,
          })),
        },
        output_format: "json",
        output_schema: {
          type: "object",
          properties: {
            rows: {
              type: "array",
              items: {
                type: "array",
                prefixItems: [{ type: "string" }, { type: "integer" }],
                minItems: 2,
                maxItems: 2,
              },
            },
          },
          required: ["rows"],
        },
        grader: { type: "json_fields" },
        expected_output: { rows: key },
        wrong_answers: wrong.map((rows) => ({ rows })),
      };
    });
  },
);
