import type { SeedTask } from "../public/types.ts";
import type { Random } from "../../templates/random.ts";

/** One drawn instance of a template: a seed task without its slug and without answers for tests. */
export type MintedTask = Omit<SeedTask, "slug" | "wrong_answers">;

/** A secret task whose parameters are drawn anew at every rotation while its difficulty stays. */
export interface SecretTemplate {
  /** kebab-case, unique over all suites, stable. */
  id: string;
  /** Says nothing about the parameters: titles of secret tasks are public. */
  title: string;
  domain: MintedTask["domain"];
  /** Draws an instance; the same state of `random` gives the same task. */
  mint(random: Random): MintedTask;
}

/** A secret suite: one task per template and version. */
export interface SecretSuite {
  slug: string;
  name: string;
  description: string;
  templates: SecretTemplate[];
}

type Fixed = Pick<MintedTask, "title" | "domain" | "output_format" | "reference_cost_usd" | "reference_latency_ms">;
type Drawn = Omit<MintedTask, keyof Fixed | "time_limit_ms">;

const TIME_LIMIT_MS = 120_000;

/** A template from what is the same in every instance and from what is drawn. */
export function defineTemplate(
  { id, ...fixed }: Fixed & { id: string },
  draw: (random: Random) => Drawn,
): SecretTemplate {
  return {
    id,
    title: fixed.title,
    domain: fixed.domain,
    mint: (random) => ({ ...fixed, ...draw(random), time_limit_ms: TIME_LIMIT_MS }),
  };
}
