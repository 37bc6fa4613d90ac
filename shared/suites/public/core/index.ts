import type { SeedSuite } from "../types.ts";
import { coding } from "./coding.ts";
import { dataExtraction } from "./data-extraction.ts";
import { instructionFollowing } from "./instruction-following.ts";
import { math } from "./math.ts";
import { planning } from "./planning.ts";
import { reasoning } from "./reasoning.ts";
import { retrieval } from "./retrieval.ts";
import { robustness } from "./robustness.ts";
import { safety } from "./safety.ts";
import { toolUse } from "./tool-use.ts";

/** The standard suite of the board: four tasks of each of the ten domains. */
export const core: SeedSuite = {
  slug: "core",
  name: "Core Screen",
  description:
    "The standard screen: four tasks of each domain, from quick checks to problems that punish careless work. Agents that cover it are ranked on the board.",
  tasks: [
    ...reasoning,
    ...math,
    ...coding,
    ...dataExtraction,
    ...toolUse,
    ...instructionFollowing,
    ...planning,
    ...retrieval,
    ...safety,
    ...robustness,
  ],
};
