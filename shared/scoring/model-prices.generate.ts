/** Writes model-prices.ts from model-prices.csv; with `--check` it only compares them. Run by Node, never by the Worker. */
import { readFileSync, writeFileSync } from "node:fs";

const HEADER = "vendor,model,input_usd_per_million,output_usd_per_million,cached_input_usd_per_million,since";

/**
 * The source of model-prices.ts. A price in USD per million tokens times 1e6 is the same price in 1e-12 USD per token,
 * an integer for up to six decimals. Rows that repeat another word for word are dropped.
 *
 * @throws Error that names the line which is malformed or prices a model twice.
 */
export function generate(csv: string): string {
  const [header, ...lines] = csv.trimEnd().split(/\r?\n/);
  if (header !== HEADER) throw new Error(`model-prices.csv: line 1 is not ${HEADER}`);
  const rows = [...new Set(lines.map(row))];
  const models = rows.map((text) => /model: "([^"]+)"/.exec(text)?.[1]);
  const twice = models.find((model, index) => models.indexOf(model) < index);
  if (twice !== undefined) throw new Error(`model-prices.csv: ${twice} has two prices`);
  return `// Generated from model-prices.csv by model-prices.generate.ts.
import type { PriceRow } from "./price-row.ts";

/** List prices per token in 1e-12 USD. */
export const MODEL_PRICES: readonly PriceRow[] = [
${rows.join("\n")}
];
`;
}

function row(line: string, index: number): string {
  const [, vendor, model, input, output] = /^([a-z-]+),([a-z0-9.-]+),([\d.]+),([\d.]+),[\d.]*,[\d-]*$/.exec(line) ?? [];
  if (!vendor || !model || !input || !output) throw new Error(`model-prices.csv: line ${index + 2} is malformed`);
  return `  { vendor: "${vendor}", model: "${model}", input: ${picoUsd(input)}, output: ${picoUsd(output)} },`;
}

function picoUsd(usdPerMillion: string): string {
  const [, whole, decimals = ""] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(usdPerMillion) ?? [];
  if (whole === undefined) throw new Error(`model-prices.csv: ${usdPerMillion} is not a price of at most six decimals`);
  return String(BigInt(whole + decimals.padEnd(6, "0"))).replace(/\B(?=(\d{3})+$)/g, "_");
}

if (import.meta.main) {
  const target = new URL("./model-prices.ts", import.meta.url);
  const source = generate(readFileSync(new URL("./model-prices.csv", import.meta.url), "utf8"));
  if (!process.argv.includes("--check")) writeFileSync(target, source);
  else if (readFileSync(target, "utf8") !== source) {
    console.error("model-prices.ts is not up to date: run node shared/scoring/model-prices.generate.ts");
    process.exitCode = 1;
  }
}
