import * as z from "zod";

/** The mails that carry a link with a token. */
export const TEMPLATES = ["verify_email", "reset_password", "confirm_deletion"] as const;

/** The name of a mail with a token. */
export type Template = (typeof TEMPLATES)[number];

/** The mails that tell somebody what was decided. */
export const NOTICES = ["submission_approved", "submission_rejected"] as const;

/** The name of a mail that tells what was decided. */
export type Notice = (typeof NOTICES)[number];

/** What a mail says about its reader. */
export const MailParams = z.strictObject({ username: z.string().nullable() });

/** What a notice says besides: what was decided about, and why. */
export const NoticeParams = z.strictObject({
  ...MailParams.shape,
  title: z.string(),
  reason: z.string().nullable(),
});

/** What an invitation to a workspace says: who invites, whereto, and to be what. */
export const InvitationParams = z.strictObject({ inviter: z.string(), workspace: z.string(), role: z.string() });

/** One mail to be sent, as the queue carries it. */
export const MailMessage = z.discriminatedUnion("template", [
  z.strictObject({
    id: z.uuid(),
    /** Null for an account that does not exist: a mail that nobody gets costs the request the same work. */
    to: z.string().nullable(),
    template: z.enum(TEMPLATES),
    params: MailParams,
    /** The token of the link by `encrypt(…, "mail")`, so that neither outbox nor queue can use it. */
    token: z.string(),
  }),
  z.strictObject({ id: z.uuid(), to: z.string(), template: z.enum(NOTICES), params: NoticeParams }),
  z.strictObject({
    id: z.uuid(),
    to: z.string(),
    template: z.literal("workspace_invitation"),
    params: InvitationParams,
    token: z.string(),
  }),
]);
