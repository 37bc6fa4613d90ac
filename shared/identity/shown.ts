import * as z from "zod";
import { PLAN_NAMES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";

export const UserRead = z
  .object({
    id: z.uuid(),
    email: z.string(),
    username: z.string().nullable(),
    email_verified: z.boolean(),
    plan: z.enum(PLAN_NAMES),
    arena_run_count: z.int(),
    monthly_run_count: z.int(),
    monthly_run_limit: z.int(),
    agent_count: z.int(),
    team_count: z.int(),
    charges_enabled: z.boolean(),
    payouts_enabled: z.boolean(),
    is_admin: z.boolean(),
    has_password: z.boolean(),
    deletion_scheduled_for: Instant.nullable(),
    created_at: Instant,
  })
  .meta({ id: "UserRead" });

export const TokenResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal("bearer"),
    expires_in: z.int().meta({ description: "Seconds" }),
    user: UserRead,
  })
  .meta({ id: "TokenResponse" });

export const SessionRead = z
  .object({
    id: z.uuid(),
    created_at: Instant,
    last_used_at: Instant.meta({ description: "When it was signed in or last refreshed" }),
    user_agent: z.string().nullable(),
    current: z.boolean().meta({ description: "Whether this request belongs to it" }),
  })
  .meta({ id: "SessionRead" });

export const DeletionRead = z
  .object({ deletion_pending: z.boolean(), deletion_scheduled_for: Instant.nullable() })
  .meta({ id: "DeletionRead" });

const count = z.int();

export const DeletionPreview = z
  .object({
    agents: count,
    runs: count,
    api_keys: count,
    webhook_subscriptions: count,
    workspaces_owned: count,
    purchases: count,
    email_sha256: z.string().meta({ description: "SHA-256 of the account's email, in hex" }),
    has_password: z.boolean(),
    deletion_pending: z.boolean(),
  })
  .meta({ id: "DeletionPreview" });
