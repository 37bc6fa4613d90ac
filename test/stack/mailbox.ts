/** A mail that the service sent, kept instead of delivered. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  created_at: string;
}

/** The mails of a local stack, newest first. */
export interface Mailbox {
  add(mail: Omit<Mail, "created_at">): void;
  list(to?: string): Mail[];
  clear(): void;
}

const MAX_MAILS = 1000;

/** An empty mailbox. */
export function createMailbox(): Mailbox {
  let mails: Mail[] = [];
  return {
    add(mail) {
      mails = [{ ...mail, created_at: new Date().toISOString() }, ...mails].slice(0, MAX_MAILS);
    },
    list: (to) => (to === undefined ? mails : mails.filter((mail) => mail.to.toLowerCase() === to.toLowerCase())),
    clear() {
      mails = [];
    },
  };
}

/** Where the foot of a mail leads that can be switched off. */
const SWITCHES = "/settings/notifications";

/**
 * The link of a mail, as its reader would follow it. Throws where text and HTML do not carry the same single one, apart
 * from the one in the foot that leads to the switches.
 */
export function linkOf(mail: Mail | undefined): URL {
  const [link = ""] = /https?:\S+/.exec(mail?.text ?? "") ?? [];
  const hrefs = [...(mail?.html ?? "").matchAll(/href="([^"]*)"/g)]
    .map(([, href = ""]) => href)
    .filter((href) => !href.endsWith(SWITCHES));
  if (link === "" || hrefs.some((href) => href !== link)) throw new Error(`no single link in ${JSON.stringify(mail)}`);
  return new URL(link);
}

/** The token that the link of a mail carries. */
export function tokenOf(mail: Mail | undefined): string {
  return linkOf(mail).searchParams.get("token") ?? "";
}
