import { readFileSync } from "node:fs";

/** The cron expressions of the Worker's triggers, as wrangler.toml has them. */
export function crons(): string[] {
  const toml = readFileSync(new URL("../../wrangler.toml", import.meta.url), "utf8");
  return [...(/crons = \[(.*)\]/.exec(toml)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, cron]) => cron as string);
}

/** Where the URLs end to which the daily trigger's work is delivered: it is done when none of its messages is under way. */
export const DAILY_URL_END = "/queues/daily";
