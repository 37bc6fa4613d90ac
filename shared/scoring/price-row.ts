/** List prices of a model per token, in 1e-12 USD: integers, so that sums are exact. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** One row of a price list. A model name that ends in `-272k` prices the base model's calls above 272,000 input tokens. */
export interface PriceRow extends ModelPrice {
  vendor: string;
  model: string;
}
