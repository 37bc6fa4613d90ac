import { caller } from "../stack/client.ts";
import { type Baseline, startBare } from "./baseline.ts";
import { type Bench, PASSWORD } from "./beside.ts";
import { type Measured, ratio } from "./measure.ts";

/** As many pairs as the line of an authenticated read has. */
const PAIRS = 1000;
const WARM_UP = 200;

/**
 * A Worker that has better-auth and nothing else: without its cache in a cookie, since the service looks into the database
 * at each request as well. Its limit of requests is off: all of these come from one address.
 */
const SOURCE = `
import { betterAuth } from "better-auth/minimal";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { neon, neonConfig } from "@neondatabase/serverless";
import { relations } from "drizzle-orm";
import { boolean, pgSchema, text, timestamp } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/neon-http";
const own = pgSchema("better_auth");
const dates = { createdAt: timestamp().notNull(), updatedAt: timestamp().notNull() };
const user = own.table("user", { id: text().primaryKey(), name: text().notNull(), email: text().notNull(),
  emailVerified: boolean().notNull(), image: text(), ...dates });
const session = own.table("session", { id: text().primaryKey(), expiresAt: timestamp().notNull(), token: text().notNull(),
  ipAddress: text(), userAgent: text(), userId: text().notNull(), ...dates });
const account = own.table("account", { id: text().primaryKey(), accountId: text().notNull(), providerId: text().notNull(), issuer: text(),
  userId: text().notNull(), accessToken: text(), refreshToken: text(), idToken: text(), accessTokenExpiresAt: timestamp(),
  refreshTokenExpiresAt: timestamp(), scope: text(), password: text(), ...dates });
const verification = own.table("verification", { id: text().primaryKey(), identifier: text().notNull(),
  value: text().notNull(), expiresAt: timestamp().notNull(), ...dates });
const ofSession = relations(session, ({ one }) => ({
  user: one(user, { fields: [session.userId], references: [user.id] }),
}));
const schema = { user, session, account, verification, ofSession };
let auth;
function start(env, baseURL) {
  neonConfig.fetchEndpoint = () => env.NEON_LOCAL_PROXY + "/sql";
  const database = drizzle(neon(env.DATABASE_URL), { schema });
  return betterAuth({
    baseURL,
    secret: "a secret of the bench, which is long enough",
    database: drizzleAdapter(database, { provider: "pg", schema, transaction: false }),
    emailAndPassword: { enabled: true },
    session: { cookieCache: { enabled: false } },
    advanced: { database: { joins: env.JOINS } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
  });
}
export default {
  fetch(request, env) {
    auth ??= start(env, new URL(request.url).origin);
    return auth.handler(request);
  },
};`;

/** better-auth's tables, in a schema of their own. */
const TABLES = `create schema better_auth
  create table "user" (id text primary key, name text not null, email text not null unique, "emailVerified" boolean not null,
    image text, "createdAt" timestamp not null, "updatedAt" timestamp not null)
  create table session (id text primary key, "expiresAt" timestamp not null, token text not null unique, "ipAddress" text,
    "userAgent" text, "userId" text not null references "user" on delete cascade, "createdAt" timestamp not null,
    "updatedAt" timestamp not null)
  create table account (id text primary key, "accountId" text not null, "providerId" text not null, issuer text,
    "userId" text not null references "user" on delete cascade, "accessToken" text, "refreshToken" text, "idToken" text,
    "accessTokenExpiresAt" timestamp, "refreshTokenExpiresAt" timestamp, scope text, password text,
    "createdAt" timestamp not null, "updatedAt" timestamp not null)
  create table verification (id text primary key, identifier text not null, value text not null,
    "expiresAt" timestamp not null, "createdAt" timestamp not null, "updatedAt" timestamp not null)
  create index on session ("userId") create index on account ("userId") create index on verification (identifier)`;

/** What the service's session check takes, over better-auth's on the same database. */
export interface SessionRatios {
  /** As better-auth comes: the session, then its user, in two statements. */
  asItComes: Measured;
  /** With the setting by which it joins them in one. */
  joined: Measured;
}

/** Measures the service's session check in turn with that of a bare Worker with better-auth. */
export async function sessionRatios({ owner, pool, stack }: Bench, peers: string): Promise<SessionRatios> {
  const check = () => owner("GET", "/api/v1/auth/me");
  const against = async (joins: boolean) => {
    const worker = await startBare("better-auth", SOURCE, peers, { ...stack.settings(), JOINS: joins });
    try {
      const theirs = await signedIn(worker, `joins-${joins}@example.test`);
      return await ratio(PAIRS, check, theirs, { warmUp: WARM_UP });
    } finally {
      await worker.stop();
    }
  };
  await pool.query(TABLES);
  try {
    return { asItComes: await against(false), joined: await against(true) };
  } finally {
    await pool.query("drop schema better_auth cascade");
  }
}

/** Signs a person up with better-auth; what is returned has their session checked, and fails where that is not known. */
async function signedIn(worker: Baseline, email: string): Promise<() => Promise<void>> {
  const person = { name: "Bench", email, password: PASSWORD };
  const signUp = await caller(worker, { origin: worker.url }).call("POST", "/api/auth/sign-up/email", person);
  const cookies = signUp.headers.getSetCookie().map((cookie) => cookie.replace(/;.*/, ""));
  const { call } = caller(worker, { cookie: cookies.join("; ") });
  return async () => {
    const { status, text, body } = await call("GET", "/api/auth/get-session");
    if (body?.user?.email !== email) throw new Error(`better-auth answered with ${status}: ${text}`);
  };
}
