import * as z from "zod";
import { PLAN_NAMES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { normaliseEmail } from "./email.ts";
import { RecoveryCode, TotpCode } from "./second-factor/schemas.ts";

/** An email address in any case and Unicode form; parsed into the form in which it is stored. */
export const Email = z.string().max(254).overwrite(normaliseEmail).pipe(z.email());

const Username = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_-]{1,37}[A-Za-z0-9])$/,
    "3 to 39 letters, digits, - or _; a letter or digit at both ends",
  );

/** A password as it is given; what it must be like to be taken, `assertStrongPassword` says. */
const Password = z.string().max(1000);

export const UserCreate = z
  .strictObject({ email: Email, password: Password, username: Username.optional() })
  .meta({ id: "UserCreate" });

export const UserUpdate = z
  .strictObject({
    username: Username.optional(),
    current_password: Password.optional().meta({ description: "Needed with new_password" }),
    new_password: Password.optional(),
  })
  .superRefine((body, context) => {
    const { current_password: current, new_password: next } = body;
    if ((current === undefined) === (next === undefined)) return;
    context.addIssue({
      code: "custom",
      path: [current === undefined ? "current_password" : "new_password"],
      message: "current_password and new_password go together; send both.",
      params: { code: "missing_field" },
    });
  })
  .meta({ id: "UserUpdate" });

export const LoginRequest = z
  .strictObject({
    email: z.string().max(254),
    password: Password,
    totp_code: TotpCode.optional(),
    recovery_code: RecoveryCode.optional(),
  })
  .superRefine(({ totp_code, recovery_code }, context) => {
    if (totp_code === undefined || recovery_code === undefined) return;
    for (const name of ["totp_code", "recovery_code"]) {
      const message = "Send at most one of totp_code and recovery_code.";
      context.addIssue({ code: "custom", path: [name], message, params: { code: "conflicting_parameters" } });
    }
  })
  .meta({ id: "LoginRequest" });

/** A mailed token; one that is left out gets the answer of one that is not known. */
const MailedToken = z.string().max(1000).default("");

export const VerifyEmailRequest = z.strictObject({ token: MailedToken }).meta({ id: "VerifyEmailRequest" });

export const ForgotPasswordRequest = z.strictObject({ email: Email }).meta({ id: "ForgotPasswordRequest" });

export const ResetPasswordRequest = z
  .strictObject({ token: MailedToken, new_password: z.string().max(1000) })
  .meta({ id: "ResetPasswordRequest" });

export const EmailChange = z.strictObject({ email: Email, password: Password.optional() }).meta({ id: "EmailChange" });

export const ConfirmEmailRequest = z.strictObject({ token: MailedToken }).meta({ id: "ConfirmEmailRequest" });

export const PasswordSet = z.strictObject({ new_password: Password }).meta({ id: "PasswordSet" });

export const ConfirmationLinkRequest = z.strictObject({}).meta({ id: "ConfirmationLinkRequest" });

export const UserRead = z
  .object({
    id: z.uuid(),
    email: z.string(),
    username: z.string().nullable(),
    email_verified: z.boolean(),
    plan: z.enum(PLAN_NAMES),
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

export const SessionRead = z
  .object({
    id: z.uuid(),
    created_at: Instant,
    last_used_at: Instant.meta({ description: "When it was signed in or last refreshed" }),
    user_agent: z.string().nullable(),
    current: z.boolean().meta({ description: "Whether this request belongs to it" }),
  })
  .meta({ id: "SessionRead" });

const SECOND_FACTORS = ["password", "confirmation_token"] as const;

export const DeletionRequest = z
  .strictObject({
    password: Password.optional().meta({ description: "Of an account that has one" }),
    confirmation_token: z
      .string()
      .max(1000)
      .optional()
      .meta({ description: "Mailed to an account without a password" }),
  })
  .superRefine((body, context) => {
    const given = SECOND_FACTORS.filter((name) => body[name] !== undefined);
    if (given.length === 1) return;
    const code = given.length === 0 ? "missing_field" : "conflicting_parameters";
    for (const name of SECOND_FACTORS) {
      const message = "Send exactly one of password and confirmation_token.";
      context.addIssue({ code: "custom", path: [name], message, params: { code } });
    }
  })
  .meta({ id: "DeletionRequest" });

export const DeletionRead = z
  .object({ deletion_pending: z.boolean(), deletion_scheduled_for: Instant.nullable() })
  .meta({ id: "DeletionRead" });

const count = z.number().int();

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
