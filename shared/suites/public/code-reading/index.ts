import type { SeedSuite } from "../types.ts";
import { defects } from "./defects.ts";
import { programs } from "./programs.ts";

/** Fourteen tasks of reading code in nine languages. */
export const codeReading: SeedSuite = {
  slug: "code-reading",
  name: "Code Reading",
  description: "What short programs in several languages print, where they fail, and what they cost.",
  tasks: [...programs, ...defects],
};
