import type { SeedTask } from "../public/types.ts";
import type { Random } from "../../templates/random.ts";
import { instanceOfDraw, type Instance } from "../../templates/types.ts";

/** One drawn instance of a template: a seed task without its slug and without answers for tests. */
export type MintedTask = Omit<SeedTask, "slug" | "wrong_answers">;

/** A secret task whose parameters are drawn anew for every run while its difficulty stays. */
export interface SecretTemplate {
  /** kebab-case, unique over all suites, stable. It is public, as titles are. */
  id: string;
  /** A whole number from 1; a change that changes any instance raises it. */
  version: number;
  /** Says nothing about the parameters: titles of secret tasks are public. */
  title: string;
  domain: MintedTask["domain"];
  /** Draws a whole task; the same state of `random` gives the same one. */
  draw(random: Random): MintedTask;
  /** The same draw as the instance of a run. */
  mint(random: Random): Instance;
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
  { id, version = 1, ...fixed }: Fixed & { id: string; version?: number },
  draw: (random: Random) => Drawn,
): SecretTemplate {
  const { title, domain, output_format } = fixed;
  return {
    id,
    version,
    title,
    domain,
    draw: (random) => ({ ...fixed, ...draw(random), time_limit_ms: TIME_LIMIT_MS }),
    mint: (random) => instanceOfDraw({ id, version }, { ...draw(random), output_format }),
  };
}
