import { type FrontendPath, frontendPage } from "../platform/frontend.ts";
import type * as z from "zod";
import type { InvitationParams, LeadParams, MailParams, NoticeParams, Template, WaitlistParams } from "./message.ts";
import { type Notice, SWITCHES, wordingOf } from "./notices.ts";

/** A mail as its reader sees it. */
export interface Rendered {
  subject: string;
  text: string;
  html: string;
}

interface Wording {
  subject: string;
  /** The page of the frontend that takes the token. */
  path: FrontendPath;
  request: string;
  action: string;
  note: string;
}

const WORDINGS: Record<Template, Wording> = {
  verify_email: {
    subject: "Confirm your email address",
    path: "/verify-email",
    request: "Please confirm that this is your email address.",
    action: "Confirm the address",
    note: "The link works once, within 24 hours. If you did not create an account with us, ignore this mail.",
  },
  reset_password: {
    subject: "Reset your password",
    path: "/reset-password",
    request: "Somebody, most likely you, asked to reset the password of your account.",
    action: "Choose a new password",
    note: "The link works once, within one hour. If it was not you, ignore this mail: your password stays as it is.",
  },
  confirm_deletion: {
    subject: "Confirm the deletion of your account",
    path: "/confirm-deletion",
    request: "You asked to delete your account.",
    action: "Confirm the deletion",
    note: "The link works once, within one hour. If it was not you, ignore this mail and sign out everywhere.",
  },
  confirm_email: {
    subject: "Confirm your new email address",
    path: "/confirm-email",
    request: "Please confirm that this is to be the email address of your account from now on.",
    action: "Use this address",
    note: "The link works once, within 24 hours. If you did not ask for this, ignore this mail: nothing changes.",
  },
};

/** A mail in plain text and HTML, with a link into the frontend at `frontendUrl` that carries `token`. */
export function render(
  template: Template,
  { username }: z.output<typeof MailParams>,
  token: string,
  frontendUrl: string,
): Rendered {
  const { subject, path, request, action, note } = WORDINGS[template];
  return compose(subject, username, [textOf(request), linkOf(action, path, token, frontendUrl), noteOf(note)]);
}

/** A mail in plain text and HTML that invites to a workspace, with a link like that of `render`. */
export function renderInvitation(
  { inviter, workspace, role }: z.output<typeof InvitationParams>,
  token: string,
  frontendUrl: string,
): Rendered {
  return compose("You are invited to a workspace", null, [
    textOf(`${inviter} invites you to the workspace “${workspace}”, with the role ${role}.`),
    linkOf("Join the workspace", "/accept-invitation", token, frontendUrl),
    noteOf(
      "The link works within 7 days, for the account with this email address; register one first if you have none. If " +
        "you don't know who is inviting you, ignore this mail.",
    ),
    footOf(frontendUrl),
  ]);
}

/**
 * A mail in plain text and HTML about what happened to `title`, with the reason if one was given, and a link to the page
 * where its reader goes on. In the foot of one that can be switched off is the page where it can.
 */
export function renderNotice(
  notice: Notice,
  { username, title, reason, page_id: id }: z.output<typeof NoticeParams>,
  frontendUrl: string,
): Rendered {
  const { kind, subject, news, note, next } = wordingOf(notice);
  const [path, action] = next;
  return compose(subject, username, [
    textOf(news(title)),
    ...(reason === null ? [] : [quoteOf(reason)]),
    ...(path.includes("{id}") && id === null
      ? []
      : [buttonOf(action, frontendPage({ FRONTEND_URL: frontendUrl }, path, id ?? ""))]),
    noteOf(note),
    ...(kind in SWITCHES ? [footOf(frontendUrl)] : []),
  ]);
}

/** A mail in plain text and HTML that confirms to a lead that it is on a waitlist; none of its text comes from the lead. */
export function renderWaitlist({ list }: z.output<typeof WaitlistParams>): Rendered {
  const news = {
    pro: "This address is on the waitlist for the Pro plan. We will write to it when the plan can be bought.",
    enterprise: "This address is on the waitlist for the Enterprise plan. We will write to it to discuss the details.",
  };
  return compose("You are on the list", null, [
    textOf(news[list]),
    noteOf("If you did not ask for this, ignore this mail."),
  ]);
}

/** A mail in plain text and HTML that passes on to an operator what an enterprise lead wrote. */
export function renderLead({ email, company, seats, message }: z.output<typeof LeadParams>): Rendered {
  return compose("A new lead on the Enterprise waitlist", null, [
    textOf(`${email} asks for an Enterprise plan.`),
    ...(company === null ? [] : [textOf(`Company: ${company}`)]),
    ...(seats === null ? [] : [textOf(`Seats: ${seats}`)]),
    ...(message === null ? [] : [quoteOf(message)]),
    noteOf("The address is not verified."),
  ]);
}

/** One paragraph, in both forms. */
interface Part {
  text: string;
  html: string;
}

function textOf(text: string): Part {
  return { text, html: `<p>${escapeHtml(text)}</p>` };
}

function quoteOf(text: string): Part {
  return { text, html: `<blockquote style="white-space:pre-line">${escapeHtml(text)}</blockquote>` };
}

function linkOf(action: string, path: FrontendPath, token: string, frontendUrl: string): Part {
  return buttonOf(action, `${frontendPage({ FRONTEND_URL: frontendUrl }, path)}?token=${encodeURIComponent(token)}`);
}

function buttonOf(action: string, link: string): Part {
  return {
    text: `${action}:\n${link}`,
    html: `<p><a href="${escapeHtml(link)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1a56db;color:#fff;text-decoration:none">${escapeHtml(action)}</a></p>
    <p>If the button does not work, open this address:<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`,
  };
}

/** Where mails of this kind are switched off. */
function footOf(frontendUrl: string): Part {
  const link = frontendPage({ FRONTEND_URL: frontendUrl }, "/settings/notifications");
  return {
    text: `--\nChoose which of these mails you get: ${link}`,
    html: `<p style="color:#555"><a href="${escapeHtml(link)}">Choose which of these mails you get</a></p>`,
  };
}

function noteOf(note: string): Part {
  return { text: note, html: `<p style="color:#555">${escapeHtml(note)}</p>` };
}

function compose(subject: string, username: string | null, parts: readonly Part[]): Rendered {
  const greeting = username === null ? "Hello," : `Hello ${username},`;
  const html = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
  <body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a">
    <p>${escapeHtml(greeting)}</p>
    ${parts.map((part) => part.html).join("\n    ")}
  </body>
</html>
`;
  return { subject, text: `${[greeting, ...parts.map(({ text }) => text)].join("\n\n")}\n`, html };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for an element or a quoted attribute of HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}
