import * as z from "zod";
import { SECURITY, SWITCHES } from "../../mail/notices.ts";

const told = (what: string) => z.boolean().meta({ description: `A mail when ${what}` });

const switches = {
  certification_result: told(SWITCHES.certification_result),
  certification_expiry: told(SWITCHES.certification_expiry),
  regression: told(SWITCHES.regression),
  allowance: told(SWITCHES.allowance),
  turned_off: told(SWITCHES.turned_off),
  submission_review: told(SWITCHES.submission_review),
  invitation: told(SWITCHES.invitation),
} satisfies Record<keyof typeof SWITCHES, z.ZodType>;

const always = (what: string) => told(`${what}; always on`);

const security = {
  sign_in: always(SECURITY.sign_in),
  password: always(SECURITY.password),
  email_change: always(SECURITY.email_change),
  deletion: always(SECURITY.deletion),
} satisfies Record<keyof typeof SECURITY, z.ZodType>;

/** Which notifications an account gets. */
export const NotificationsRead = z.object({ ...switches, ...security }).meta({ id: "NotificationsRead" });

const Changes = z.strictObject({ ...switches, ...security }).partial();

/** The switches to change. Those of security can't be switched off. */
export const NotificationsUpdate = Changes.superRefine((body, context) => {
  for (const kind of Object.keys(SECURITY)) {
    if (new Map(Object.entries(body)).get(kind) !== false) continue;
    context.addIssue({
      code: "custom",
      path: [kind],
      message: "This notification protects the account and stays on. Leave it out, or send true.",
      params: { code: "always_on" },
    });
  }
}).meta({ id: "NotificationsUpdate" });
