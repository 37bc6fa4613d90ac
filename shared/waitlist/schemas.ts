import * as z from "zod";
import { Email } from "../identity/schemas.ts";

export const NotifyMeRequest = z.strictObject({ email: Email }).meta({ id: "NotifyMeRequest" });

export const NotifyMeResponse = z
  .object({
    queued: z.boolean().meta({ description: "Whether the address is new to the list" }),
    reason: z.literal("already_queued").optional().meta({ description: "Why it was not queued" }),
  })
  .meta({ id: "NotifyMeResponse" });

export const EnterpriseWaitlistRequest = z
  .strictObject({
    email: Email,
    company: z.string().trim().min(1).max(200).optional(),
    seats: z.int().min(1).max(1_000_000).optional(),
    message: z.string().trim().min(1).max(4000).optional(),
  })
  .meta({ id: "EnterpriseWaitlistRequest" });

export const EnterpriseWaitlistResponse = z
  .object({ queued: z.literal(true) })
  .meta({ id: "EnterpriseWaitlistResponse" });
