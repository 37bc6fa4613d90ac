import type { SeedSuite } from "../types.ts";
import { instructions } from "./instructions.ts";
import { robustness } from "./robustness.ts";
import { safety } from "./safety.ts";

/** Sixteen tasks on how an agent behaves: what it declines, whom it obeys, how exactly it follows a form. */
export const conduct: SeedSuite = {
  slug: "conduct",
  name: "Conduct",
  description: "Refusals where they are due and only there, planted instructions, and texts under exact rules of form.",
  tasks: [...safety, ...robustness, ...instructions],
};
