import { zip } from "../../lists.ts";
import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";
import { type Call, keyOfCalls, unlike } from "./calls.ts";
import { stockTools } from "./tools.ts";

const KINDS = ["LMP", "CBL", "FUS", "SWT", "PLG", "TUB", "VLV", "HNG", "BRK", "GSK", "NZL", "SPR"] as const;

interface Article {
  sku: string;
  on_hand: number;
  on_its_way: number;
  reorder_at: number;
  target: number;
  pack_size: number;
  discontinued: boolean;
}

/** How a draw's rule reads: whether the level itself is low, and whether packs go up to the target or beyond it. */
interface Rule {
  inclusive: boolean;
  beyond: boolean;
}

const stockOf = ({ on_hand, on_its_way }: Article): number => on_hand + on_its_way;

/** The orders by a rule; `over` changes how stock, low articles or packs are reckoned. */
function orders(
  articles: readonly Article[],
  { inclusive, beyond }: Rule,
  over: { stock?: (one: Article) => number; dead?: true; pieces?: true } = {},
): Call[] {
  const { stock = stockOf, dead, pieces } = over;
  return articles.flatMap((one): Call[] => {
    const { sku, reorder_at, target, pack_size, discontinued } = one;
    const low = inclusive ? stock(one) <= reorder_at : stock(one) < reorder_at;
    if (!low || (discontinued && !dead)) return [];
    const lacking = target - stock(one);
    const packs = beyond ? Math.ceil(lacking / pack_size) : Math.floor(lacking / pack_size);
    return [{ name: "order_packs", arguments: { sku, packs: pieces ? lacking : packs } }];
  });
}

/** An article whose stock is `above` its level; the gap to the target is of `whole` packs, or lies between. */
function articleOf(random: Random, sku: string, above: number, way: number, whole: boolean): Article {
  const [reorder_at, pack_size] = [random.int(12, 45), random.pick([6, 8, 10, 12, 15, 20, 25])];
  const stock = reorder_at + above;
  const on_its_way = Math.min(way, stock - 1);
  const gap = pack_size * random.int(2, 7) + (whole ? 0 : random.int(1, pack_size - 1));
  return {
    sku,
    on_hand: stock - on_its_way,
    on_its_way,
    reorder_at,
    target: stock + gap,
    pack_size,
    discontinued: false,
  };
}

/** Traps: what is on its way counts, the level itself, discontinued articles, packs instead of pieces, whole packs. */
export const reorderPacks = defineTemplate(
  { id: "tools-reorder-packs", version: 1, sample: "core-tools-reorder-packs" },
  (random) => {
    const rule = { inclusive: random.pick([true, false]), beyond: random.pick([true, false]) };
    const numbers = random.sample(
      Array.from({ length: 99 }, (_, i) => String(i + 1).padStart(2, "0")),
      6,
    );
    const skus = zip(numbers, [...random.sample(KINDS, 4), ...random.sample(KINDS, 2)]).map(
      ([number, kind]) => `${kind}-${number}`,
    );
    return drawUntil(() => {
      const [edge = "", low = "", lowWay = "", stocked = "", dead = "", near = ""] = skus;
      const articles = random.shuffle([
        articleOf(random, edge, 0, random.int(3, 9), random.pick([true, false])),
        articleOf(random, low, -random.int(3, 9), 0, false),
        articleOf(random, lowWay, -random.int(1, 3), random.int(2, 8), true),
        articleOf(random, stocked, random.int(4, 12), random.int(16, 30), false),
        { ...articleOf(random, dead, -random.int(4, 9), 0, false), discontinued: true },
        articleOf(random, near, rule.inclusive ? random.int(1, 2) : -1, random.pick([0, 0, 4]), false),
      ]);
      const right = orders(articles, rule);
      if (articles.some(({ on_hand }) => on_hand < 1) || right.length !== 3) return undefined;
      const { inclusive, beyond } = rule;
      const wrong = [
        orders(articles, { inclusive: !inclusive, beyond }),
        orders(articles, { inclusive, beyond: !beyond }),
        orders(articles, rule, { stock: ({ on_hand }) => on_hand }),
        orders(articles, rule, { dead: true }),
        orders(articles, rule, { pieces: true }),
        right.slice(1),
        right.map(({ name, arguments: { sku = "" } }) => ({ name, arguments: { sku, packs: 1 } })),
      ];
      return {
        prompt: `For each article in \`input\` decide whether it must be ordered, and place the orders with the tools, one call per article, in any order. Rule: an article counts as low when what is on hand plus what is already on its way is ${inclusive ? "at or below" : "below"} its \`reorder_at\`. Of a low article order ${
          beyond
            ? "the fewest full packs that bring stock (on hand plus on its way plus the order) to at least `target`"
            : "the most full packs that keep stock (on hand plus on its way plus the order) at or below `target`"
        }. Discontinued articles are never ordered. Change no settings and write to nobody.`,
        input: { articles: articles.map((one) => ({ ...one })) },
        output_format: "tool_calls",
        tools: random.shuffle(stockTools),
        grader: { type: "tool_calls", order: "any" },
        expected_output: keyOfCalls(right),
        wrong_answers: unlike(right, wrong),
      };
    });
  },
);
