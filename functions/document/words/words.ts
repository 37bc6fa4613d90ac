import { ACCOUNTS } from "./accounts.ts";
import { AGENTS } from "./agents.ts";
import { COMMON } from "./common.ts";
import { RUNS } from "./runs.ts";

/**
 * What properties mean whose schemas do not say it themselves. A word is a property's name, or the name with as much of the
 * way to it as makes it mean something else: `RunRead.status`, `counts.passed`. The longest that fits is taken.
 */
export const WORDS: Readonly<Record<string, string>> = { ...COMMON, ...ACCOUNTS, ...AGENTS, ...RUNS };
