import type { FrontendPath } from "../platform/frontend.ts";

/** What an account can switch off, each with what it is told then. */
export const SWITCHES = {
  certification_result: "an agent of mine is certified, or is not",
  certification_expiry: "a certification ends in 14 days, and in 3",
  regression: "an agent got worse from one screening to the next",
  allowance: "80% of the month's runs are used, and all of them, or my plan becomes smaller or is not paid",
  turned_off: "a schedule or a webhook was turned off, or a schedule can't start its screening",
  submission_review: "a task that I proposed was reviewed",
  invitation: "somebody invites me to a workspace",
} as const;

/** What every account is told: whoever took it over must not be able to switch it off. */
export const SECURITY = {
  sign_in: "somebody signed in from a new network with a new browser",
  password: "the password was changed, or a passkey or an authenticator app was added or removed",
  email_change: "the email address is to be changed, or was",
  deletion: "the account will be deleted",
} as const;

/** The kinds of notifications that can be switched off. */
export type Switch = keyof typeof SWITCHES;

/** The kinds of notifications. */
export type Kind = Switch | keyof typeof SECURITY;

/** How a notice tells of `title`, and where its reader goes next. */
interface Wording {
  kind: Kind;
  subject: string;
  news(title: string): string;
  note: string;
  /** The page that is led to, and what its link is called. */
  next: readonly [path: FrontendPath, action: string];
}

const PROTECT = "If it was not you, choose a new password at once: that ends every session.";

/** The mails that tell somebody of what happened to something of theirs. */
export const NOTICES = {
  certification_granted: {
    kind: "certification_result",
    subject: "Your agent is certified",
    news: (title) => `Your agent “${title}” passed its certification:`,
    note: "Its page has the credential, and a badge for your README.",
    next: ["/agents/{id}", "Open the agent's page"],
  },
  certification_refused: {
    kind: "certification_result",
    subject: "Your agent was not certified",
    news: (title) => `Your agent “${title}” did not pass its certification:`,
    note: "Each run that failed says why. When they pass, you can have the agent certified again.",
    next: ["/agents/{id}", "Open the agent's page"],
  },
  certification_incomplete: {
    kind: "certification_result",
    subject: "Your agent's certification could not be completed",
    news: (title) => `The certification of your agent “${title}” could not be completed:`,
    note: "This says nothing against the agent. The operator was told, so that the price can be paid back.",
    next: ["/agents/{id}", "Open the agent's page"],
  },
  certification_unpaid: {
    kind: "certification_result",
    subject: "The payment of a certification failed",
    news: (title) => `The payment for the certification of your agent “${title}” did not go through:`,
    note: "The agent was not screened. It can be certified once a certification of it is paid.",
    next: ["/agents/{id}/certify", "Buy it again"],
  },
  certification_expiring: {
    kind: "certification_expiry",
    subject: "A certification is about to end",
    news: (title) => `The certification of your agent “${title}” is about to end:`,
    note: "Until then it stays certified, and no further certification can be bought. Have the agent certified again once it has ended.",
    next: ["/agents/{id}", "Open the agent's page"],
  },
  agent_regressed: {
    kind: "regression",
    subject: "Your agent got worse",
    news: (title) => `Your agent “${title}” passed fewer runs than in its last screening over the same tasks:`,
    note: "Chance alone hardly explains it. Look at the runs that failed.",
    next: ["/sessions/{id}", "Open the screening"],
  },
  allowance_low: {
    kind: "allowance",
    subject: "80% of this month's runs are used",
    news: (title) => `${title} are used.`,
    note: "The allowance starts anew with the month. A larger plan has more runs at once.",
    next: ["/billing", "Look at the plans"],
  },
  allowance_exhausted: {
    kind: "allowance",
    subject: "All of this month's runs are used",
    news: (title) => `${title} are used. Further runs are refused, and schedules start none.`,
    note: "The allowance starts anew with the month. A larger plan has more runs at once.",
    next: ["/billing", "Look at the plans"],
  },
  plan_unpaid: {
    kind: "allowance",
    subject: "The renewal of your plan was not paid",
    news: (title) => `The renewal of your plan ${title} could not be paid.`,
    note: "You keep the plan while the payment is tried again, and lose it when that is given up. The page of your plan leads to the invoice, and to your cards.",
    next: ["/billing", "Open your plan"],
  },
  plan_smaller: {
    kind: "allowance",
    subject: "Your plan became smaller",
    news: (title) => `From now on your plan is ${title}. The reason:`,
    note: "What you have stays, your agents, webhooks, workspaces and results among it. But no more is added, and no more runs are started, than this plan allows; schedules beyond it, and those of workspaces that it does not include, start no screenings. All of it goes on with a larger plan.",
    next: ["/billing", "Look at the plans"],
  },
  schedule_disabled: {
    kind: "turned_off",
    subject: "Your schedule was turned off",
    news: (title) => `The schedule of the agent “${title}” starts no screenings any more. The reason:`,
    note: "Remove the cause, then turn the schedule on again.",
    next: ["/settings/schedules", "Open the schedules"],
  },
  schedule_waiting: {
    kind: "turned_off",
    subject: "A scheduled screening was not started",
    news: (title) => `The schedule of the agent “${title}” was due, and started no screening. The reason:`,
    note: "The schedule goes on, and tries again whenever it is due. While this lasts, you are told once a month.",
    next: ["/settings/schedules", "Open the schedules"],
  },
  webhook_disabled: {
    kind: "turned_off",
    subject: "Your webhook was turned off",
    news: (title) => `Your webhook “${title}” no longer receives events. The reason:`,
    note: "Mend the receiver, then turn the webhook on again: what it missed until now can be redelivered from its log, which goes back 30 days. What happens while the webhook is off is neither sent nor kept. Others of yours at the same host that are turned off within the hour for the same reason are not told of one by one: the page shows them.",
    next: ["/settings/webhooks", "Open the webhooks"],
  },
  submission_approved: {
    kind: "submission_review",
    subject: "Your task was approved",
    news: (title) => `The task that you proposed, “${title}”, was approved. It is a benchmark task now.`,
    note: "Thank you for making the catalogue better.",
    next: ["/suites", "Look at the tasks"],
  },
  submission_rejected: {
    kind: "submission_review",
    subject: "Your task was not accepted",
    news: (title) => `The task that you proposed, “${title}”, was reviewed and not accepted. The reviewer's reason:`,
    note: "You are welcome to propose a task that takes this into account.",
    next: ["/suites", "Look at the tasks"],
  },
  new_sign_in: {
    kind: "sign_in",
    subject: "A new sign-in to your account",
    news: () =>
      "Somebody signed in to your account with a browser and from a network that it was not used with before:",
    note: PROTECT,
    next: ["/settings/sessions", "See where you are signed in"],
  },
  password_changed: {
    kind: "password",
    subject: "Your password was changed",
    news: () => "The password of your account was changed, and every other session has ended.",
    note: PROTECT,
    next: ["/forgot-password", "Choose a new password"],
  },
  passkey_added: {
    kind: "password",
    subject: "A passkey was added to your account",
    news: (title) => `From now on the passkey “${title}” signs in to your account.`,
    note: "If it was not you, remove it at once, sign out everywhere, and choose a new password.",
    next: ["/settings/passkeys", "See your passkeys"],
  },
  passkey_removed: {
    kind: "password",
    subject: "A passkey was removed from your account",
    news: (title) => `The passkey “${title}” no longer signs in to your account.`,
    note: PROTECT,
    next: ["/settings/passkeys", "See your passkeys"],
  },
  totp_added: {
    kind: "password",
    subject: "An authenticator app was added to your account",
    news: () => "From now on, signing in to your account takes a code of an authenticator app.",
    note: "If it was not you, change your password where you are still signed in: that ends every other session. Then write to the operator.",
    next: ["/settings/second-factor", "See how you sign in"],
  },
  totp_removed: {
    kind: "password",
    subject: "The authenticator app was removed from your account",
    news: () => "Signing in to your account no longer takes a code of an authenticator app.",
    note: PROTECT,
    next: ["/settings/second-factor", "See how you sign in"],
  },
  email_change_requested: {
    kind: "email_change",
    subject: "Your email address is about to be changed",
    news: () =>
      "Somebody signed in to your account asked to change its email address. The new one has to be confirmed first:",
    note: "If it was not you, sign out everywhere at once, then choose a new password. Either voids the link that confirms it.",
    next: ["/settings/sessions", "Sign out everywhere"],
  },
  email_changed: {
    kind: "email_change",
    subject: "Your email address was changed",
    news: () => "This is no longer the email address of your account. From now on it is:",
    note: "If it was not you, sign in with that address and your password at once, end all other sessions, and change it back.",
    next: ["/settings/sessions", "See where you are signed in"],
  },
  email_claimed: {
    kind: "email_change",
    subject: "Somebody wants to use your email address",
    news: () =>
      "Somebody asked to use this email address for another account. It is the address of yours, so nothing was changed.",
    note: "If it was you, sign in to this account instead, or delete it first. If it was not, nothing is to be done.",
    next: ["/settings/sessions", "See where you are signed in"],
  },
  deletion_scheduled: {
    kind: "deletion",
    subject: "Your account will be deleted",
    news: () => "The deletion of your account was asked for:",
    note: `Until then everything works, and the deletion can be taken back. ${PROTECT}`,
    next: ["/settings/deletion", "Keep the account"],
  },
} as const satisfies Record<string, Wording>;

/** The name of such a mail. */
export type Notice = keyof typeof NOTICES;

/** How a notice is worded. */
export function wordingOf(notice: Notice): Wording {
  return NOTICES[notice];
}
