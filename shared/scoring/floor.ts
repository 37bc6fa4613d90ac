import { cheapestInput, type PriceTable, priceOf } from "./prices.ts";

/**
 * No text is fewer tokens than its characters over this. Tokenizers in use give prose about four and a half characters a
 * token, and code, numbers and other scripts fewer.
 */
export const CHARACTERS_PER_TOKEN = 8;

/** What a floor is of the table's price: below the deepest discounts on tokens that a vendor has cached. */
const PART = 10n;

/** White space, or one character several times: tokenizers know long runs of them as a single token. */
const RUN = /\s+|(.)\1+/gsu;

/**
 * The least number of tokens that a model must read to have read these texts, whatever its tokenizer: an eighth of their
 * characters (UTF-16), where a run of white space, or of one character, is one character.
 * @example
 * leastTokens("How many months have 28 days?") // 3
 */
export function leastTokens(...texts: string[]): number {
  const characters = texts.reduce((sum, text) => sum + text.replaceAll(RUN, "-").length, 0);
  return Math.floor(characters / CHARACTERS_PER_TOKEN);
}

/**
 * What a call of a model can't have cost less than, in 1e-12 USD: a tenth of the model's list price for reading `tokens`.
 * What it wrote is not looked at, since a tool may have written the answer. A model that is not in the table, or that is
 * not named, has the floor of the one that reads at the lowest price.
 * @example
 * const table = priceTable([{ vendor: "openai", model: "gpt-x", input: 2_000_000, output: 8_000_000 }]);
 * costFloors(table, 100)("gpt-x") // 20_000_000n, which is 0.00002 USD
 */
export function costFloors(prices: PriceTable, tokens: number): (model: string | null) => bigint {
  const floor = (price: number) => (BigInt(tokens) * BigInt(price) + PART - 1n) / PART;
  const lowest = floor(cheapestInput(prices));
  return (model) => {
    const price = model === null ? null : priceOf(prices, model, tokens);
    return price === null ? lowest : floor(price.input);
  };
}
