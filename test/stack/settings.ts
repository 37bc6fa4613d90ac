import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv as parseDotenv } from "node:util";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { WORKERS } from "./limits.ts";

/** Settings of the service by name, as the Worker gets them. */
export type Settings = Record<string, string>;

/** @throws for settings that a deployed Worker could not have: the names of those that are too large, or their number. */
export function assertSettings(settings: Settings): void {
  const sizes = Object.entries(settings).map(([name, value]) => [name, Buffer.byteLength(value)] as const);
  if (sizes.length > WORKERS.settings) {
    throw new Error(`${sizes.length} settings; a Worker may have ${WORKERS.settings}.`);
  }
  const large = sizes.filter(([, bytes]) => bytes > WORKERS.settingBytes);
  if (large.length === 0) return;
  throw new Error(
    large
      .map(([name, bytes]) => `${name}: ${bytes} bytes; a Worker's setting may have ${WORKERS.settingBytes}.`)
      .join("\n"),
  );
}

const SECRETS = "secrets.json";

/** The keys that the stack in this folder has made so far. */
export function secretsOf(dir: string): Settings {
  const file = join(dir, SECRETS);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Settings) : {};
}

/** Keys that a stack makes once and keeps, so that tokens and evidence outlive a restart. */
export async function keptSecrets(dir: string): Promise<Settings> {
  const kept = secretsOf(dir);
  const fresh = await newSecrets();
  if (Object.keys(fresh).every((name) => kept[name] !== undefined)) return kept;
  // Those of an older stack stay; what it did not need yet is added.
  const secrets = { ...fresh, ...kept };
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, SECRETS), JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}

/** Fresh keys for everything that signs, encrypts or lets in. */
export async function newSecrets(): Promise<Settings> {
  const [privateKey, logKey] = await Promise.all([newKey(), newKey()]);
  const token = (): string => randomBytes(24).toString("base64url");
  return {
    SIGNING_KEYS: JSON.stringify({ keys: [privateKey] }),
    LOG_SIGNING_KEY: JSON.stringify(logKey),
    DATA_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    UPSTASH_REDIS_REST_TOKEN: token(),
    QSTASH_TOKEN: token(),
    QSTASH_CURRENT_SIGNING_KEY: `sig_${token()}`,
    QSTASH_NEXT_SIGNING_KEY: `sig_${token()}`,
  };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return exportJWK(privateKey);
}

/** What a development stack sets unless the developer does: operators by example, all flags, no payment key. */
export const DEVELOPMENT: Settings = {
  ENVIRONMENT: "development",
  EMAIL_FROM: "Agent Screening <no-reply@example.test>",
  ADMIN_EMAILS: "admin@example.test",
  TEAM_OVERRIDE_EMAILS: "lead@example.test",
  FLAGS: "billing,certify,secret_suites,sweeps",
};

/** Those of them that are for the stack's parts, and not for the service. */
const OWN = new Set(["DATABASE_URL", "REDIS_URL", "QSTASH_PLAN"]);

const NAMES = [
  "ENVIRONMENT BASE_URL FRONTEND_URL ALLOWED_ORIGINS SIGNING_KEYS LOG_SIGNING_KEY DATA_ENCRYPTION_KEY DATA_ENCRYPTION_KEYS STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET STRIPE_PRICE_PRO_MONTHLY STRIPE_PRICE_PRO_YEARLY STRIPE_PRICE_TEAM_MONTHLY",
  "STRIPE_PRICE_TEAM_YEARLY STRIPE_PRICE_CERTIFICATION STRIPE_API_BASE GITHUB_CLIENT_ID GITHUB_CLIENT_SECRET GITHUB_BASE",
  "EPOCH_SECONDS EMAIL_FROM RESEND_API_KEY RESEND_API_BASE ADMIN_EMAILS TEAM_OVERRIDE_EMAILS FLAGS DATABASE_URL REDIS_URL QSTASH_PLAN",
]
  .join(" ")
  .split(" ");

/** The developer's own settings: `.dev.vars` in the project's folder, overridden by the environment. */
export function developerSettings(): {
  settings: Settings;
  databaseUrl?: string;
  redisUrl?: string;
  qstashPlan?: string;
} {
  const file = new URL("../../.dev.vars", import.meta.url);
  const dotenv = existsSync(file) ? parseDotenv(readFileSync(file, "utf8")) : {};
  const given: Settings = {};
  for (const name of NAMES) {
    const value = process.env[name] ?? dotenv[name];
    if (value !== undefined) given[name] = value;
  }
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QSTASH_PLAN: qstashPlan } = given;
  const settings = Object.fromEntries(Object.entries(given).filter(([name]) => !OWN.has(name)));
  return {
    settings,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(redisUrl === undefined ? {} : { redisUrl }),
    ...(qstashPlan === undefined ? {} : { qstashPlan }),
  };
}
