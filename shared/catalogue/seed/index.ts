import { core } from "./core/index.ts";
import type { SeedSuite } from "./types.ts";

/** The public suites, in the order of the catalogue. */
export const publicSuites: readonly SeedSuite[] = [core];
