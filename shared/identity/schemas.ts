import * as z from "zod";
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

/** How many UTF-16 code units a password may have as it is given: 128 characters never have more. */
export const MAX_UNITS = 1000;

/** The password that an account has. */
const Password = z.string().max(MAX_UNITS);

/** A password that an account is to have: what it must be like, its length too, `assertStrongPassword` says. */
const NewPassword = z.string();

export const UserCreate = z
  .strictObject({ email: Email, password: NewPassword, username: Username.optional() })
  .meta({ id: "UserCreate" });

export const UserUpdate = z
  .strictObject({
    username: Username.optional(),
    current_password: Password.optional().meta({ description: "Needed with new_password" }),
    new_password: NewPassword.optional(),
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
  .strictObject({ token: MailedToken, new_password: NewPassword })
  .meta({ id: "ResetPasswordRequest" });

export const EmailChange = z.strictObject({ email: Email, password: Password.optional() }).meta({ id: "EmailChange" });
export const ConfirmEmailRequest = z.strictObject({ token: MailedToken }).meta({ id: "ConfirmEmailRequest" });
export const PasswordSet = z.strictObject({ new_password: NewPassword }).meta({ id: "PasswordSet" });
export const ConfirmationLinkRequest = z.strictObject({}).meta({ id: "ConfirmationLinkRequest" });

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
