import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { decrypt } from "../platform/crypto.ts";
import type { MailMessage } from "./message.ts";
import { Permanent } from "../queue/consumer.ts";
import { render } from "./render.ts";

const RESEND = "https://api.resend.com";
const TIMEOUT_MS = 10_000;

/** A mail with this key is being sent at this moment, or too many are: what passes by itself. */
const PASSING = new Set([409, 429]);

/**
 * Sends one mail by Resend (https://resend.com/docs/api-reference/emails/send-email), once however often it is called
 * within a day. Throws where another try may help: without an API key, without an answer, on 5xx, 409 and 429. A mail
 * that Resend refuses for good throws `Permanent`.
 */
export async function send(ctx: Context, message: z.output<typeof MailMessage>): Promise<void> {
  const { id, to, template, params } = message;
  if (to === null) return;
  const { RESEND_API_KEY, RESEND_API_BASE, EMAIL_FROM, FRONTEND_URL, DATA_ENCRYPTION_KEY } = ctx.env;
  if (RESEND_API_KEY === undefined) throw new Error("RESEND_API_KEY is not set");
  const mail = render(template, params, decrypt(message.token, DATA_ENCRYPTION_KEY, "mail"), FRONTEND_URL);
  const response = await ctx.fetch(`${RESEND_API_BASE ?? RESEND}/emails`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${RESEND_API_KEY}`,
      "Content-Type": "application/json",
      "Idempotency-Key": id,
      "User-Agent": "AgentScreening/1.0",
    },
    body: JSON.stringify({ from: EMAIL_FROM, to: [to], ...mail }),
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  const { status, ok } = response;
  if (ok) return;
  if (status < 400 || status >= 500 || PASSING.has(status)) throw new Error(`Resend answered ${status}`);
  throw new Permanent(`Resend refused the mail ${template} with ${status}`);
}
