import { createHash, createHmac } from "node:crypto";
import { COMPANY_STEMS, FIRST_NAMES, TRADES } from "../../../shared/templates/words.ts";

/**
 * The generator a second time, written from the text of `shared/templates/README.md` alone: in whole numbers of any size
 * and without a line of the first one. Names come from the same lists, which the text refers to.
 */
export class SecondGenerator {
  private readonly seed: string;
  private block = 0n;
  private unused: bigint[] = [];

  /** `seed` in hex. */
  constructor(seed: string) {
    this.seed = seed;
  }

  int(min: number, max: number): number {
    const span = BigInt(max) - BigInt(min) + 1n;
    const limit = (0x1_0000_0000n / span) * span;
    for (;;) {
      const word = this.word();
      if (word < limit) return Number(BigInt(min) + (word % span));
    }
  }

  sample<T>(items: readonly T[], count: number): T[] {
    let rest = [...items];
    const result: T[] = [];
    while (result.length < count) {
      const place = this.int(0, rest.length - 1);
      result.push(...rest.filter((_, at) => at === place));
      rest = rest.filter((_, at) => at !== place);
    }
    return result;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return this.sample(items, 1)[0];
  }

  shuffle<T>(items: readonly T[]): T[] {
    return this.sample(items, items.length);
  }

  people(count: number): string[] {
    return this.sample(FIRST_NAMES, count);
  }

  companies(count: number): string[] {
    return this.different(count, () => [this.pick(COMPANY_STEMS), this.pick(TRADES)].join(" "));
  }

  codes(prefix: string, count: number): string[] {
    return this.different(count, () => `${prefix}-${this.int(1000, 9999)}`);
  }

  private different(count: number, make: () => string): string[] {
    const made: string[] = [];
    while (made.length < count) {
      const next = make();
      if (!made.includes(next)) made.push(next);
    }
    return this.sample(made, count);
  }

  private word(): bigint {
    if (this.unused.length === 0) {
      const bytes = this.seed + this.block.toString(16).padStart(8, "0");
      const digest = createHash("sha256").update(bytes, "hex").digest("hex");
      this.unused = [...digest.matchAll(/.{8}/g)].map(([eight]) => BigInt(`0x${eight}`));
      this.block += 1n;
    }
    const [first = 0n, ...others] = this.unused;
    this.unused = others;
    return first;
  }
}

/** HMAC-SHA-256 in hex of an array of strings and numbers; for these JSON.stringify gives the RFC 8785 form. */
export function secondDerivation(secret: string, parts: (string | number)[]): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(JSON.stringify(parts), "utf8").digest("hex");
}
