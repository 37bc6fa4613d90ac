import type { PasswordCost } from "../../platform/context.ts";

/** About 0.2 s and 16 MiB in workerd: what production isolates can afford. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 14, r: 8, p: 5 };
