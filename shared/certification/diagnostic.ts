import { sql } from "drizzle-orm";
import * as z from "zod";
import { isDevMode } from "../billing/mode.ts";
import { read } from "../db/change.ts";
import type { Context } from "../platform/context.ts";
import { isOffered } from "./offer.ts";
import { certificationTasks } from "./rules.ts";
import { PASS_SCORE, PRICE_USD, REPEATS, VALID_DAYS } from "./terms.ts";
import type { CertifyDiagnostic } from "./shown.ts";

/** How certification is set up here, and its rules: whether keys and prices are set, but never their values. */
export async function diagnose(ctx: Context): Promise<z.output<typeof CertifyDiagnostic>> {
  const { env } = ctx;
  const count = await read(ctx, z.int(), sql`select to_jsonb(count(*)) as result from ${certificationTasks}`);
  return {
    enabled: isOffered(env),
    secret_suites_enabled: env.FLAGS.has("secret_suites"),
    price_usd: PRICE_USD,
    price_configured: env.STRIPE_PRICE_CERTIFICATION !== undefined,
    payment_configured: env.STRIPE_SECRET_KEY !== undefined,
    dev_mode: isDevMode(env),
    repeats: REPEATS,
    task_count: count ?? 0,
    pass_score: PASS_SCORE,
    valid_days: VALID_DAYS,
  };
}
