import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Faults } from "./faults.ts";
import { bearer, type Handler, json, listen } from "./http.ts";
import type { Mailbox } from "./mailbox.ts";

/** A mail service that keeps what it is sent. */
export interface Resend {
  readonly url: string;
  /** The Idempotency-Key of every request that came. */
  readonly keys: readonly string[];
  /** Answers the next requests with these statuses, one each, and delivers nothing. */
  failNext(...statuses: number[]): void;
  close(): Promise<void>;
}

/** What each key begins with. One that does not is refused as malformed: https://resend.com/docs/api-reference/errors */
const KEY_PREFIX = "re_";
const KEY_INVALID = "API key is invalid";

const Email = z.object({
  from: z.string().regex(/^(?:[^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/),
  to: z.array(z.email()).min(1).max(50),
  subject: z.string().min(1),
  text: z.string(),
  html: z.string(),
});

/**
 * The part of Resend's API that sends a mail (https://resend.com/docs/api-reference/emails/send-email): mails go into
 * `mailbox`. A repeated Idempotency-Key gives the first answer again and delivers nothing; with another body it is 409.
 * Of the requests of one second it refuses those after `perSecond`. Faults of the service "mail" apply to it.
 */
export async function startResend(options: {
  mailbox: Mailbox;
  key: string;
  faults: Faults;
  perSecond: number;
}): Promise<Resend> {
  const { mailbox, key, faults, perSecond } = options;
  const window = { second: 0, requests: 0 };
  const keys: string[] = [];
  const failures: number[] = [];
  const sent = new Map<string, { body: string; id: string }>();

  const handler: Handler = ({ method, url, headers, body }) => {
    if (`${method} ${url.pathname}` !== "POST /emails") return problem(404, "not_found");
    const idempotencyKey = headers["idempotency-key"];
    keys.push(String(idempotencyKey));
    const failure = failures.shift();
    if (failure === 429) return limited();
    if (failure !== undefined) return problem(failure, "application_error");
    if (headers["user-agent"] === undefined) return problem(403, "1010");
    const given = bearer(headers);
    if (given !== key)
      return problem(given?.startsWith(KEY_PREFIX) === true ? 401 : 400, "validation_error", KEY_INVALID);
    const second = Math.floor(Date.now() / 1000);
    window.requests = second === window.second ? window.requests + 1 : 1;
    window.second = second;
    if (window.requests > perSecond) return limited();
    const mail = Email.safeParse(JSON.parse(body.toString()));
    if (!mail.success) return problem(422, "validation_error");
    const known = typeof idempotencyKey === "string" ? sent.get(idempotencyKey) : undefined;
    if (known !== undefined) {
      return known.body === body.toString() ? json(200, { id: known.id }) : problem(409, "invalid_idempotent_request");
    }
    const id = randomUUID();
    if (typeof idempotencyKey === "string") sent.set(idempotencyKey, { body: body.toString(), id });
    const { to, subject, text, html } = mail.data;
    for (const one of to) mailbox.add({ to: one, subject, text, html });
    return json(200, { id });
  };
  const { url, close } = await listen(faults.around("mail", handler));
  return { url, keys, failNext: (...statuses) => void failures.push(...statuses), close };
}

/** What is over the limit of a second is answered so. */
const limited = () => problem(429, "rate_limit_exceeded", "Too many requests.", { "retry-after": "1" });

function problem(statusCode: number, name: string, message = name, headers: Record<string, string> = {}) {
  return json(statusCode, { statusCode, name, message }, headers);
}
