import type * as z from "zod";
import type { MailParams, Template } from "./message.ts";

/** A mail as its reader sees it. */
export interface Rendered {
  subject: string;
  text: string;
  html: string;
}

interface Wording {
  subject: string;
  /** The page of the frontend that takes the token. */
  path: string;
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
    note: "The link works once, within 24 hours. If you have not made an account with us, ignore this mail.",
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
};

/** A mail in plain text and HTML, with a link into the frontend at `frontendUrl` that carries `token`. */
export function render(
  template: Template,
  { username }: z.output<typeof MailParams>,
  token: string,
  frontendUrl: string,
): Rendered {
  const { subject, path, request, action, note } = WORDINGS[template];
  const greeting = username === null ? "Hello," : `Hello ${username},`;
  const link = `${frontendUrl.replace(/\/+$/, "")}${path}?token=${encodeURIComponent(token)}`;
  const page = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
  <body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a">
    <p>${escapeHtml(greeting)}</p>
    <p>${escapeHtml(request)}</p>
    <p><a href="${escapeHtml(link)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1a56db;color:#fff;text-decoration:none">${escapeHtml(action)}</a></p>
    <p>If the button does not work, open this address:<br><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>
    <p style="color:#555">${escapeHtml(note)}</p>
  </body>
</html>
`;
  return {
    subject,
    text: `${greeting}\n\n${request}\n\n${action}:\n${link}\n\n${note}\n`,
    html: page,
  };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as it may stand in an element or a quoted attribute of HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}
