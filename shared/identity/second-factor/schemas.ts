import * as z from "zod";
import { Instant } from "../../platform/time.ts";

/** A code as an authenticator app shows it; spaces in it are left out. */
export const TotpCode = z
  .string()
  .max(20)
  .overwrite((text) => text.replaceAll(/\s/g, ""))
  .regex(/^\d{6}$/, "The 6 digits that the authenticator app shows");

/** One of the account's recovery codes, in any case, with or without what stands between its letters. */
export const RecoveryCode = z.string().min(1).max(100);

export const TotpBegun = z
  .object({
    secret: z.string(),
    otpauth_url: z.string(),
  })
  .meta({ id: "TotpBegun" });

export const TotpConfirm = z.strictObject({ code: TotpCode }).meta({ id: "TotpConfirm" });

export const RecoveryCodes = z.object({ recovery_codes: z.array(z.string()) }).meta({ id: "RecoveryCodes" });

export const SecondFactorCode = z
  .strictObject({
    code: z.string().min(1).max(100),
  })
  .meta({ id: "SecondFactorCode" });

export const TotpRead = z
  .object({
    active: z.boolean(),
    confirmed_at: Instant.nullable(),
    recovery_codes_left: z.int(),
  })
  .meta({ id: "TotpRead" });
