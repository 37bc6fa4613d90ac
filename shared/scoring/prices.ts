import { modelPart } from "./model-name.ts";
import { MODEL_PRICES } from "./model-prices.ts";
import type { ModelPrice, PriceRow } from "./price-row.ts";

interface Entry {
  vendor: string;
  price: ModelPrice;
  /** Dearer prices for long contexts, the longest first. */
  tiers: { above: number; price: ModelPrice }[];
}

/** A price list by model name. */
export type PriceTable = ReadonlyMap<string, Entry>;

const TIER = /^(.+)-(\d+)k$/;
const DATE = /[-@]20\d{2}(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/;

// Names that gateways, frameworks and the vendors' own APIs write for what the list calls otherwise.
const VENDOR_ALIASES = new Map([
  ["alibaba", "qwen"],
  ["dashscope", "qwen"],
  ["gemini", "google"],
  ["googlegenai", "google"],
  ["googlegla", "google"],
  ["googlevertex", "google"],
  ["googlevertexai", "google"],
  ["meta", "metaai"],
  ["mistralai", "mistral"],
  ["models", "google"],
  ["moonshot", "moonshotai"],
]);
const MODEL_ALIASES = new Map([["claude-opus-4-0", "claude-opus-4"]]);

/** What a vendor adds to the name of a model that stays the same: the same ending may tell two models of others apart. */
const ENDINGS: readonly (readonly [vendor: string, ending: RegExp])[] = [
  ["anthropic", /(?:-latest|@(?:latest|default)|\[1m\])$/],
  ["google", /(?:-latest|-00\d|@default)$/],
  ["xai", /-(?:latest|beta|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/],
];

/** Anthropic's names have the version before the kind up to 3.7, and after it since; others write either for both. */
const CLAUDE = /^claude-(?:(\d+(?:-\d+)?)-([a-z]+)|([a-z]+)-(\d+(?:-\d+)?))$/;

/** Frameworks write `openai:gpt-4o`. */
const COLON = /^([a-z][\w-]*):(?=[a-z])/i;
// Who runs models of others at the prices of the list, before the name that they have there: as LiteLLM and OpenRouter write it.
const HOST =
  /^(?:azure(?:_ai|_openai|\/responses)?|bedrock(?:\/(?:converse|invoke|[a-z]{2}(?:-gov)?-[a-z]+-\d))?|openrouter|vertex_ai)\//i;
// "us.anthropic.claude-opus-4-5-20251101-v1:0": where it runs, whose it is, and the version of what Amazon makes of it.
// Gateways have Amazon's own in the same form, but for the slash: "amazon/nova-pro-v1".
const BEDROCK =
  /^(?:(?:us|us-gov|eu|apac|ca|jp|au|global)\.)?(amazon(?=[./])|anthropic(?=\.)).(.+?)(?:-v\d+(?::\d+)?)?$/i;

const fold = (name: string) => name.toLowerCase().replaceAll(".", "-");
const foldVendor = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, "");

/**
 * Indexes a price list.
 *
 * @throws Error when two models differ only in what a look-up ignores (letter case, `.` for `-`).
 * @example
 * priceTable([{ vendor: "openai", model: "gpt-x", input: 1, output: 2 }])
 */
export function priceTable(rows: readonly PriceRow[]): PriceTable {
  const table = new Map<string, Entry>();
  for (const { vendor, model, input, output } of rows) {
    if (table.has(fold(model))) throw new Error(`two models are named like ${model}`);
    table.set(fold(model), { vendor: foldVendor(vendor), price: { input, output }, tiers: [] });
  }
  for (const [name, { price }] of table) {
    const [, base = "", thousands] = TIER.exec(name) ?? [];
    table.get(base)?.tiers.push({ above: Number(thousands) * 1000, price });
  }
  for (const { tiers } of table.values()) tiers.sort((a, b) => b.above - a.above);
  return table;
}

/** The price list that ships with the service. */
export const DEFAULT_PRICES: PriceTable = priceTable(MODEL_PRICES);

/**
 * The price of one call, or null when the model is not in the list. A name is taken as it stands, then without the
 * prefix of its own vendor (`openai/`), then without a release date (`-2024-08-06`, `-20250514`) or what its vendor adds to
 * the same model's name (`-latest` of Anthropic, `-001` of Google); letter case and `.` for `-` are no matter, nor is the
 * prefix of who runs it (`azure/`, `vertex_ai/`), the form that Amazon Bedrock gives it (`us.anthropic.…-v1:0`), or the account
 * or project before it. Nothing else is guessed: another vendor's prefix, a fine-tune or a variant has no price.
 * @example
 * const table = priceTable([{ vendor: "openai", model: "gpt-x", input: 1, output: 2 }]);
 * priceOf(table, "OpenAI/GPT-X-2024-08-06", 10) // { input: 1, output: 2 }
 * priceOf(table, "gpt-x-mini", 10) // null
 */
export function priceOf(table: PriceTable, model: string, inputTokens: number): ModelPrice | null {
  const entry = find(table, model);
  if (!entry) return null;
  return entry.tiers.find(({ above }) => inputTokens > above)?.price ?? entry.price;
}

/** The lowest price of an input token in the list, in 1e-12 USD; 0 for an empty list. */
export function cheapestInput(table: PriceTable): number {
  const prices = [...table.values()].map(({ price }) => price.input);
  return prices.length === 0 ? 0 : Math.min(...prices);
}

function find(table: PriceTable, model: string): Entry | null {
  const hosted = modelPart(model).replace(COLON, "$1/").replace(HOST, "");
  const [, maker, made = ""] = BEDROCK.exec(hosted) ?? [];
  // Nova's names begin with its vendor's in the list, and not there.
  if (maker !== undefined) return lookUp(table, maker, made) ?? lookUp(table, maker, `${maker}-${made}`);
  const slash = hosted.indexOf("/");
  return lookUp(table, slash === -1 ? null : hosted.slice(0, slash), hosted.slice(slash + 1));
}

/** What the list has under a name, if it is of that vendor, where one is named. */
function lookUp(table: PriceTable, maker: string | null, model: string): Entry | null {
  const name = fold(model);
  const entry = released(table, name) ?? ended(table, name);
  if (!entry || maker === null) return entry;
  const vendor = foldVendor(maker);
  return (VENDOR_ALIASES.get(vendor) ?? vendor) === entry.vendor ? entry : null;
}

/** What the list has under a name, with or without the date of its release. */
function released(table: PriceTable, name: string): Entry | null {
  const undated = name.replace(DATE, "");
  const [, version, kind, since, number] = CLAUDE.exec(undated) ?? [];
  const turned = version === undefined ? `claude-${number}-${since}` : `claude-${kind}-${version}`;
  const names = [name, undated, MODEL_ALIASES.get(undated) ?? "", turned];
  return names.map((one) => table.get(one)).find((entry) => entry !== undefined) ?? null;
}

/** What the list has under a name without what only its vendor adds to it. */
function ended(table: PriceTable, name: string): Entry | null {
  for (const [vendor, ending] of ENDINGS) {
    const entry = ending.test(name) ? released(table, name.replace(ending, "")) : null;
    if (entry?.vendor === vendor) return entry;
  }
  return null;
}
