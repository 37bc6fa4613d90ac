import * as z from "zod";
import { ENCRYPTION_SETTINGS, type Keyring, keyringOf } from "./encryption.ts";
import { LOG_KEY_SETTING } from "./hash-secret.ts";
import { readJwkSet, setOf, SIGNING_KEYS_SETTING } from "./jwk-set.ts";

const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((item) => item.trim().toLowerCase())
      .filter((item) => item !== ""),
  );
const emails = list.transform((items) => new Set(items));

/** A URL without a path: what can stand before `/api/…`. */
const origin = z.url({ protocol: /^https?$/ }).transform((text, context) => {
  const url = new URL(text);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    context.addIssue({ code: "custom", message: "must be an origin without a path" });
  }
  return url.origin;
});

/** A sender as Resend takes it: https://resend.com/docs/api-reference/emails/send-email, "from" */
const sender = z
  .string()
  .trim()
  .regex(
    /^(?:[^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
    "must be an address, or a name and the address in angle brackets",
  );

const FLAGS = ["billing", "certify", "secret_suites", "sweeps"] as const;

/** A feature that an operator can switch on and off. */
export type Flag = (typeof FLAGS)[number];

/** An epoch of a day. */
export const DAY_SECONDS = 86_400;

const schema = z.object({
  ENVIRONMENT: z.enum(["development", "test", "production"]),
  BASE_URL: origin,
  FRONTEND_URL: z.url({ protocol: /^https?$/ }),
  ALLOWED_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((item) => item.trim() !== ""))
    .pipe(z.array(z.string().trim().pipe(origin))),
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, "must start with postgres://"),
  NEON_LOCAL_PROXY: origin.optional(),
  UPSTASH_REDIS_REST_URL: z.url(),
  UPSTASH_REDIS_REST_TOKEN: z.string().min(1),
  // As its own client takes it, with a slash at its end or without.
  QSTASH_URL: z.url().transform((url) => url.replace(/\/$/, "")),
  QSTASH_TOKEN: z.string().min(1),
  QSTASH_CURRENT_SIGNING_KEY: z.string().min(1),
  QSTASH_NEXT_SIGNING_KEY: z.string().min(1),
  SIGNING_KEYS: SIGNING_KEYS_SETTING,
  LOG_SIGNING_KEY: LOG_KEY_SETTING,
  ...ENCRYPTION_SETTINGS,
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .transform((text) => text.split(",").map((secret) => secret.trim()))
    .pipe(z.array(z.string().min(1)))
    .optional(),
  STRIPE_PRICE_PRO_MONTHLY: z.string().optional(),
  STRIPE_PRICE_PRO_YEARLY: z.string().optional(),
  STRIPE_PRICE_TEAM_MONTHLY: z.string().optional(),
  STRIPE_PRICE_TEAM_YEARLY: z.string().optional(),
  STRIPE_PRICE_CERTIFICATION: z.string().optional(),
  STRIPE_API_BASE: origin.optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GITHUB_BASE: origin.optional(),
  EMAIL_FROM: sender,
  RESEND_API_KEY: z.string().optional(),
  RESEND_API_BASE: origin.optional(),
  DNS_RESOLVER_URL: z.url(),
  ANALYTICS_SINK_URL: z.url({ protocol: /^https?$/ }).optional(),
  ADMIN_EMAILS: emails,
  TEAM_OVERRIDE_EMAILS: emails,
  EPOCH_SECONDS: z.coerce.number().int().min(1).max(DAY_SECONDS).default(DAY_SECONDS),
  FLAGS: list.pipe(z.array(z.enum(FLAGS))).transform((flags) => new Set<Flag>(flags)),
});

/** The settings of decisions section 10, parsed and typed. */
export type Env = Omit<z.output<typeof schema>, keyof typeof ENCRYPTION_SETTINGS> & { DATA_ENCRYPTION_KEYS: Keyring };

/** The names of settings that may be missing, without which something that is asked for does not work. */
export function missingSettings(
  env: Pick<Env, "RESEND_API_KEY" | "STRIPE_SECRET_KEY" | "STRIPE_WEBHOOK_SECRET">,
): string[] {
  return [
    ...(env.RESEND_API_KEY === undefined ? ["RESEND_API_KEY"] : []),
    ...(env.STRIPE_SECRET_KEY !== undefined && env.STRIPE_WEBHOOK_SECRET === undefined
      ? ["STRIPE_WEBHOOK_SECRET"]
      : []),
  ];
}

/** What production refuses of settings that may not be valid either: a line for each. */
function refusedInProduction(given: Record<string, unknown>): string[] {
  return [
    ...["STRIPE_API_BASE", "GITHUB_BASE", "RESEND_API_BASE", "NEON_LOCAL_PROXY"]
      .filter((name) => given[name] !== undefined)
      .map((name) => `- ${name}: is refused in production`),
    ...(Number(given["EPOCH_SECONDS"] ?? DAY_SECONDS) < DAY_SECONDS
      ? [`- EPOCH_SECONDS: must be ${DAY_SECONDS} in production`]
      : []),
    ...["BASE_URL", "FRONTEND_URL", "DNS_RESOLVER_URL"]
      // What is read as a URL may have space around it.
      .filter((name) => /^(?!https:)\w+:/i.test(String(given[name]).trim()))
      .map((name) => `- ${name}: must be https in production`),
  ];
}

/** Whether the log's key signs other things, too. False where either setting is not valid. */
function isLogKeyShared(given: Record<string, unknown>): boolean {
  const [signing = [], log = []] = [String(given["SIGNING_KEYS"]), setOf(String(given["LOG_SIGNING_KEY"]))].map(
    (text) => {
      const read = readJwkSet(text);
      return "faults" in read ? [] : read.keys.map(({ x }) => x);
    },
  );
  return log.some((x) => signing.includes(x));
}

/**
 * Validates all settings at once.
 * Throws an Error whose message lists everything that is missing or malformed, one line each, without any value.
 */
export function parseEnv(raw: Record<string, unknown>): Env {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== ""));
  const result = schema.safeParse(given);
  const keys = result.success ? keyringOf(result.data) : null;
  const refusals = given["ENVIRONMENT"] === "production" ? refusedInProduction(given) : [];
  if (isLogKeyShared(given))
    refusals.push("- LOG_SIGNING_KEY: stands in SIGNING_KEYS too; the log needs a key of its own (npm run keys)");
  if (result.success && keys !== null && refusals.length === 0) return { ...result.data, DATA_ENCRYPTION_KEYS: keys };
  const lines = result.error?.issues.map((issue) => `- ${issue.path.join(".")}: ${issue.message}`) ?? [];
  lines.push(...refusals);
  if (Object.keys(ENCRYPTION_SETTINGS).every((name) => given[name] === undefined))
    lines.push("- DATA_ENCRYPTION_KEYS: is missing (npm run keys)");
  throw new Error(`The configuration is not usable:\n${lines.join("\n")}`);
}
