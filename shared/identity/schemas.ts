import * as z from "zod";
import { Instant } from "../platform/time.ts";

/** An email address, in any case. */
export const Email = z.string().max(254).pipe(z.email());

export const UserCreate = z
  .strictObject({
    email: Email,
    password: z.string().max(1000),
    username: z
      .string()
      .regex(
        /^[A-Za-z0-9](?:[A-Za-z0-9_-]{1,37}[A-Za-z0-9])$/,
        "3 to 39 letters, digits, - or _; a letter or digit at both ends",
      )
      .optional(),
  })
  .meta({ id: "UserCreate" });

export const LoginRequest = z
  .strictObject({ email: z.string().max(254), password: z.string().max(1000) })
  .meta({ id: "LoginRequest" });

export const UserRead = z
  .object({
    id: z.uuid(),
    email: z.string(),
    username: z.string().nullable(),
    email_verified: z.boolean(),
    plan: z.enum(["free", "pro", "team", "enterprise"]),
    arena_run_count: z.number().int(),
    monthly_run_count: z.number().int(),
    monthly_run_limit: z.number().int(),
    agent_count: z.number().int(),
    team_count: z.number().int(),
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
    expires_in: z.number().int().meta({ description: "Seconds" }),
    user: UserRead,
  })
  .meta({ id: "TokenResponse" });
