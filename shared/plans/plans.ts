import { type SQL, sql } from "drizzle-orm";
import type { PLAN_NAMES } from "../db/schema/index.ts";

/** What each plan allows an account, `workspaces` excepted also each of its workspaces; null is unlimited. */
export const PLANS = {
  free: { agents: 3, runs: 50, workspaces: 0, schedules: 0, webhooks: 1 },
  pro: { agents: null, runs: 1000, workspaces: 0, schedules: 5, webhooks: 10 },
  team: { agents: null, runs: 5000, workspaces: 3, schedules: 25, webhooks: 25 },
  enterprise: { agents: null, runs: 50_000, workspaces: null, schedules: 100, webhooks: 100 },
} as const satisfies Record<(typeof PLAN_NAMES)[number], Record<string, number | null>>;

/** An account's plan. */
export type Plan = (typeof PLAN_NAMES)[number];

/** The SQL expression of a plan's limit, for the plan that the expression `plan` yields. */
export function planLimit(plan: SQL, limit: keyof (typeof PLANS)["free"]): SQL<number | null> {
  const cases = Object.entries(PLANS).map(([name, limits]) => sql`when ${name} then ${limits[limit]}::integer`);
  return sql`case ${plan} ${sql.join(cases, sql` `)} end`;
}

/** Whether a larger plan has more of what a plan limits to `limit`. */
export function hasLarger(limit: number, of: keyof (typeof PLANS)["free"]): boolean {
  return Object.values(PLANS).some(({ [of]: other }) => other === null || other > limit);
}

/** The calendar month (UTC) that a run is paid from, as `2026-11`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7);
}

/** When the monthly allowance starts anew. */
export function monthEnd(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
}
