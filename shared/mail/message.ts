import * as z from "zod";

/** The mails that there are. */
export const TEMPLATES = ["verify_email", "reset_password", "confirm_deletion"] as const;

/** The name of a mail. */
export type Template = (typeof TEMPLATES)[number];

/** What a mail says about its reader. */
export const MailParams = z.strictObject({ username: z.string().nullable() });

/** One mail to be sent, as the queue carries it. */
export const MailMessage = z.strictObject({
  id: z.uuid(),
  /** Null for an account that does not exist: a mail that nobody gets costs the request the same work. */
  to: z.string().nullable(),
  template: z.enum(TEMPLATES),
  params: MailParams,
  /** The token of the link by `encrypt(…, "mail")`, so that neither outbox nor queue can use it. */
  token: z.string(),
});
