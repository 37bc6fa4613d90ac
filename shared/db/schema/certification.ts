import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { index, integer, numeric, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";
import { screening_sessions } from "./runs.ts";

/** The states of a certification whose runs are still being made; in the latter it waits to go on. */
export const SCREENING_STATES = ["screening", "paused_quota"] as const;

/** The states of a certification without an end yet: an agent has at most one of them. */
const OPEN_STATES = ["awaiting_payment", ...SCREENING_STATES] as const;

/** The states of a certification. */
export const CERTIFICATION_STATES = [...OPEN_STATES, "certified", "not_certified", "expired", "refunded"] as const;

/** SQL: these states as literals, since the condition of an index takes no parameters. */
const literals = (states: readonly (typeof CERTIFICATION_STATES)[number][]): SQL =>
  sql.raw(states.map((state) => `'${state}'`).join(", "));

/** SQL: whether a certification with this status has paid runs that are under way or still to come. */
export const isInScreening = (status: SQLWrapper): SQL => sql`${status} in (${literals(SCREENING_STATES)})`;

/** SQL: whether a certification has an end to come that is ours to bring about: a verdict, or its credential. */
export const isUnfinished = ({ status, jws }: Record<"status" | "jws", SQLWrapper>): SQL =>
  sql`(${status} = 'screening' or (${status} = 'certified' and ${jws} is null))`;

/** Certifications of agents, bought or granted. */
export const certifications = lazyTable(
  "certifications",
  () => ({
    id: id(),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    /** Who bought it. */
    user_id: uuid().references(() => users.id, { onDelete: "set null" }),
    status: text({ enum: CERTIFICATION_STATES }).notNull(),
    checkout_session_id: text(),
    payment_intent_id: text(),
    price_usd: numeric({ precision: 12, scale: 2, mode: "number" }).notNull(),
    /** The allowance that the price brings: as many runs as were needed when it was last offered. */
    runs_included: integer().notNull().default(0),
    /** When the buyer waived the right of withdrawal. */
    eu_waiver_at: instant().notNull(),
    paid_at: instant(),
    screening_session_id: uuid().references(() => screening_sessions.id, { onDelete: "set null" }),
    paused_reason: text(),
    score: numeric({ precision: 5, scale: 2, mode: "number" }),
    issued_at: instant(),
    expires_at: instant(),
    revoked_at: instant(),
    /** Its place in the published status list. */
    status_index: integer().generatedAlwaysAsIdentity({ startWith: 0, minValue: 0 }),
    /** The signed credential. */
    jws: text(),
    kid: text(),
    created_at: createdAt(),
    updated_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("certifications_checkout_key").on(table.checkout_session_id),
    uniqueIndex("certifications_status_index_key").on(table.status_index),
    index("certifications_buyer_idx").on(table.user_id).where(sql`${table.user_id} is not null`),
    index("certifications_payment_idx").on(table.payment_intent_id),
    index("certifications_session_idx").on(table.screening_session_id),
    index("certifications_agent_idx").on(table.agent_id, table.id.desc().nullsFirst()),
    uniqueIndex("certifications_open_key")
      .on(table.agent_id)
      .where(sql`${table.status} in (${literals(OPEN_STATES)})`),
    index("certifications_paused_idx").on(table.id).where(sql`${table.status} = 'paused_quota'`),
    index("certifications_unfinished_idx").on(table.id).where(isUnfinished(table)),
    index("certifications_expiry_idx").on(table.expires_at).where(sql`${table.status} = 'certified'`),
    index("certifications_revoked_idx").on(table.status_index).where(sql`${table.revoked_at} is not null`),
  ],
);
