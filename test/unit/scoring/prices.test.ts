import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generate } from "../../../shared/scoring/model-prices.generate.ts";
import { MODEL_PRICES } from "../../../shared/scoring/model-prices.ts";
import { DEFAULT_PRICES, priceOf, priceTable } from "../../../shared/scoring/prices.ts";

const scoring = new URL("../../../shared/scoring/", import.meta.url);
const csv = readFileSync(new URL("model-prices.csv", scoring), "utf8");

/** The name in the list whose prices a look-up gives, in USD per million tokens. */
const usdPerMillion = (model: string, inputTokens = 1000) => {
  const price = priceOf(DEFAULT_PRICES, model, inputTokens);
  return price && [price.input / 1e6, price.output / 1e6];
};

describe("a look-up by model name", () => {
  it.each([
    ["the name of the list", "gpt-4o", [2.5, 10]],
    ["letter case", "GPT-4o-Mini", [0.15, 0.6]],
    ["the vendor's prefix", "openai/gpt-4o", [2.5, 10]],
    ["a prefix in a gateway's spelling", "x-ai/grok-3-mini", [0.3, 0.5]],
    ["a vendor known by two names", "mistralai/mistral-nemo", [0.15, 0.15]],
    ["a resource name", "models/gemini-2.5-flash-lite", [0.1, 0.4]],
    ["a release date with dashes", "gpt-4o-2024-08-06", [2.5, 10]],
    ["a release date without", "claude-opus-4-5-20251101", [5, 25]],
    ["a release date after an at sign", "claude-opus-4-1@20250805", [15, 75]],
    ["dashes for dots", "claude-3-5-haiku-20241022", [0.8, 4]],
    ["dots for dashes", "claude-opus-4.5", [5, 25]],
    ["the vendor's own word order", "anthropic/claude-haiku-4-5-20251001", [1, 5]],
    ["Bedrock's form, by region", "us.anthropic.claude-opus-4-5-20251101-v1:0", [5, 25]],
    ["Bedrock's form, without one", "anthropic.claude-3-5-sonnet-20241022-v2:0", [3, 15]],
    ["a name of Bedrock without a version", "anthropic.claude-opus-4-6", [5, 25]],
    ["Bedrock's own models", "amazon.nova-pro-v1:0", [0.8, 3.2]],
    ["Bedrock's own models at OpenRouter", "openrouter/amazon/nova-pro-v1", [0.8, 3.2]],
    ["Bedrock's own models at Vercel", "amazon/nova-lite", [0.06, 0.24]],
    ["Bedrock's form behind LiteLLM", "bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0", [1, 5]],
    ["who runs it", "azure/gpt-4o-mini", [0.15, 0.6]],
    ["who runs it, with an underscore", "vertex_ai/claude-opus-4-1@20250805", [15, 75]],
    ["who runs it, before its vendor", "openrouter/openai/gpt-4o", [2.5, 10]],
    ["all at once", "OpenAI/GPT-5-4-Mini-2026-03-05", [0.75, 4.5]],
    ["the other word order, dated", "claude-4.5-sonnet-20250929", [3, 15]],
    ["the other word order of an older one", "claude-haiku-3.5", [0.8, 4]],
    ["Anthropic's first version", "claude-opus-4-0", [15, 75]],
    ["Anthropic's latest", "claude-3-7-sonnet-latest", [3, 15]],
    ["Anthropic's long context", "claude-sonnet-4-5-20250929[1m]", [3, 15]],
    ["Vertex AI's default version", "claude-opus-4-6@default", [5, 25]],
    ["Vertex AI's dated version", "claude-sonnet-4-5@20250929", [3, 15]],
    [
      "an inference profile's ARN",
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      [3, 15],
    ],
    [
      "a model's ARN behind LiteLLM",
      "bedrock/converse/arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.nova-pro-v1:0",
      [0.8, 3.2],
    ],
    ["an interface of Bedrock", "bedrock/converse/us.anthropic.claude-opus-4-6-v1", [5, 25]],
    ["a region of Bedrock", "bedrock/us-east-1/anthropic.claude-3-haiku-20240307-v1:0", [0.25, 1.25]],
    ["a project's name", "projects/acme/locations/us-central1/publishers/google/models/gemini-2.5-flash", [0.3, 2.5]],
    [
      "a project's name behind LiteLLM",
      "vertex_ai/projects/acme/locations/eu/publishers/anthropic/models/claude-opus-4-1@20250805",
      [15, 75],
    ],
    ["a publisher's name", "publishers/google/models/gemini-2.0-flash-001", [0.1, 0.4]],
    ["Google's version", "gemini/gemini-1.5-pro-002", [1.25, 5]],
    ["xAI's date", "grok-4-0709", [3, 15]],
    ["xAI's latest", "xai/grok-3-mini-latest", [0.3, 0.5]],
    ["a vendor of two words by the first", "moonshot/kimi-k2-thinking", [0.6, 2.5]],
    ["a vendor by its cloud", "dashscope/qwen3.6-plus", [0.5, 3]],
    ["Azure's catalogue", "azure_ai/claude-opus-4-5", [5, 25]],
    ["a framework's prefix", "openai:gpt-4o", [2.5, 10]],
    ["a framework's prefix of who runs it", "bedrock:us.anthropic.claude-opus-4-6-v1", [5, 25]],
    ["a framework's name of a vendor", "google_genai:gemini-2.5-pro", [1.25, 10]],
    ["a month and year that are part of the name", "gemini-2.5-flash-preview-09-2025", [0.3, 2.5]],
  ])("takes %s", (_, model, price) => {
    expect(usdPerMillion(model)).toEqual(price);
  });

  it.each([
    "",
    "/",
    "gpt",
    "gpt-4o-super",
    "gpt-4o-mini-high",
    "my-gpt-4o",
    "gpt-4o-2024-13-06",
    "gpt-4o-2024-0806",
    "gpt-4o-0613",
    "google/gpt-4o",
    "acme/gpt-4o",
    "acme/openai/gpt-4o",
    "azure/acme/gpt-4o",
    "azure/azure/gpt-4o",
    "us.openai.gpt-4o-v1:0",
    "us.anthropic.gpt-4o-v1:0",
    "anthropic.claude-opus-4-5-super-v1:0",
    "amazon.nova-pro-v1:0:24k",
    "ft:gpt-4o:acme",
    "gpt-4o:free",
    "gpt-4o-latest",
    "gpt-4o-001",
    "gpt-4o@default",
    "gpt-4o[1m]",
    "openai:acme:gpt-4o",
    "openai:claude-opus-4-5",
    "mistral-medium-2505-latest",
    "gemini-2.5-flash-0709",
    "gemini-flash-latest",
    "grok-4-001",
    "claude-4-sonnet",
    "claude-sonnet-latest",
    "claude-4.5-opus-mini",
    "claude-5-4-sonnet",
    "azure_ai/acme/gpt-4o",
    "projects/acme/locations/eu/publishers/openai/models/claude-opus-4-5",
    "projects/acme/locations/eu/endpoints/gpt-4o",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/gpt-4o",
    "arn:aws:bedrock:us-east-1:123456789012:custom-model/anthropic.claude-opus-4-5",
    " gpt-4o",
    "__proto__",
    "constructor/gpt-4o",
  ])("guesses nothing for %j", (model) => {
    expect(usdPerMillion(model)).toBeNull();
  });

  it.each([
    ["gpt-5.4", 272_000, [2.5, 15]],
    ["gpt-5.4", 272_001, [5, 22.5]],
    ["gpt-5.4-pro", 272_001, [60, 270]],
    ["openai/gpt-5-4-2026-03-05", 1_000_000, [5, 22.5]],
    ["claude-sonnet-4.5", 200_001, [6, 22.5]],
    ["grok-4", 128_000, [3, 15]],
    ["grok-4", 128_001, [6, 30]],
    ["gpt-5.4-mini", 1_000_000, [0.75, 4.5]],
    ["gpt-5.4-272k", 1, [5, 22.5]],
  ])("prices %s with %d input tokens by its context tier", (model, inputTokens, price) => {
    expect(usdPerMillion(model, inputTokens)).toEqual(price);
  });

  it("takes the longest tier that the call exceeds", () => {
    const row = (model: string, input: number) => ({ vendor: "acme", model, input, output: 0 });
    const table = priceTable([row("m-100k", 2), row("m", 1), row("m-500k", 3)]);
    const prices = [1, 100_001, 500_000, 500_001].map((tokens) => priceOf(table, "m", tokens)?.input);
    expect(prices).toEqual([1, 2, 2, 3]);
  });

  it("refuses a list in which two models cannot be told apart", () => {
    const row = (model: string) => ({ vendor: "acme", model, input: 1, output: 1 });
    expect(() => priceTable([row("m-1.5"), row("m-1-5")])).toThrow("two models are named like m-1-5");
  });
});

describe("the price list", () => {
  it("is what its CSV says, up to date and free of rounding", () => {
    expect(readFileSync(new URL("model-prices.ts", scoring), "utf8")).toBe(generate(csv));
  });

  it("gives every line of the CSV its own price", () => {
    const lines = csv.trim().split("\n").slice(1);
    for (const line of lines) {
      const [vendor, model = "", input, output] = line.split(",");
      expect(usdPerMillion(model, 0), line).toEqual([Number(input), Number(output)]);
      expect(usdPerMillion(`${vendor}/${model}`, 0), line).toEqual([Number(input), Number(output)]);
    }
    expect(MODEL_PRICES).toHaveLength(new Set(lines).size);
  });

  const header = csv.split("\n", 1)[0] ?? "";
  it.each([
    ["another header", "model,price\n", "model-prices.csv: line 1 is not vendor,"],
    ["a line that lacks a field", `${header}\nopenai,gpt-9,1,2,\n`, "model-prices.csv: line 2 is malformed"],
    ["a negative price", `${header}\nopenai,gpt-9,-1,2,,\n`, "model-prices.csv: line 2 is malformed"],
    ["code in a name", `${header}\nopenai,"};//,1,2,,\n`, "model-prices.csv: line 2 is malformed"],
    ["a price too fine", `${header}\nopenai,gpt-9,0.1234567,2,,\n`, "0.1234567 is not a price of at most six decimals"],
    ["two prices of a model", `${header}\nopenai,gpt-9,1,2,,\nopenai,gpt-9,1,3,,\n`, "gpt-9 has two prices"],
  ])("refuses %s", (_, text, message) => {
    expect(() => generate(text)).toThrow(message);
  });
});
