import * as z from "zod";
import { type Notice, NOTICES } from "./notices.ts";

/** The mails that carry a link with a token. */
export const TEMPLATES = ["verify_email", "reset_password", "confirm_deletion", "confirm_email"] as const;

/** The name of a mail with a token. */
export type Template = (typeof TEMPLATES)[number];

const HOUR_MS = 3_600_000;

/** How long the link of a mail works, from when the mail is owed: its id tells when that was. */
export const LINK_LASTS_MS: Readonly<Record<Template | "workspace_invitation", number>> = {
  verify_email: 24 * HOUR_MS,
  reset_password: HOUR_MS,
  confirm_deletion: HOUR_MS,
  confirm_email: 24 * HOUR_MS,
  workspace_invitation: 7 * 24 * HOUR_MS,
};

/** What a mail says about its reader. */
export const MailParams = z.strictObject({ username: z.string().nullable() });

/** What a notice says in addition: what it is about, why it happened, and the id in the path of the page it leads to. */
export const NoticeParams = z.strictObject({
  ...MailParams.shape,
  title: z.string(),
  reason: z.string().nullable(),
  /** Mails that an earlier version owed have none. */
  page_id: z.uuid().nullable().default(null),
});

const isNotice = (name: string): name is Notice => name in NOTICES;

/** What an invitation to a workspace says: who invites, to which workspace, and in which role. */
export const InvitationParams = z.strictObject({ inviter: z.string(), workspace: z.string(), role: z.string() });

/** What a mail to a lead says: which waitlist it is on. */
export const WaitlistParams = z.strictObject({ list: z.enum(["pro", "enterprise"]) });

/** What the operators are told about an enterprise lead. */
export const LeadParams = z.strictObject({
  email: z.string(),
  company: z.string().nullable(),
  seats: z.number().nullable(),
  message: z.string().nullable(),
});

/** One mail to be sent, as the queue carries it. */
export const MailMessage = z.discriminatedUnion("template", [
  z.strictObject({
    id: z.uuid(),
    /** Null for an account that does not exist: nobody gets the mail, but the request takes the same work. */
    to: z.string().nullable(),
    template: z.enum(TEMPLATES),
    params: MailParams,
    /** The token of the link, as `encrypt(…, "mail")` returns it, so that neither the outbox nor the queue reveals it. */
    token: z.string(),
  }),
  z.strictObject({
    id: z.uuid(),
    to: z.string(),
    template: z.enum(Object.keys(NOTICES).filter(isNotice)),
    params: NoticeParams,
  }),
  z.strictObject({
    id: z.uuid(),
    to: z.string(),
    template: z.literal("workspace_invitation"),
    params: InvitationParams,
    token: z.string(),
  }),
  z.strictObject({ id: z.uuid(), to: z.string(), template: z.literal("waitlist_joined"), params: WaitlistParams }),
  z.strictObject({ id: z.uuid(), to: z.string(), template: z.literal("enterprise_lead"), params: LeadParams }),
]);
