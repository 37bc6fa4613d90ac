import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { decrypt } from "../platform/encryption.ts";
import { readCapped } from "../platform/outbound/body.ts";
import { retryAfterMs } from "../platform/outbound/retry-after.ts";
import { timeOf } from "../platform/ids.ts";
import { LINK_LASTS_MS, type MailMessage } from "./message.ts";
import { Permanent } from "../queue/consumer.ts";
import { render, type Rendered, renderInvitation, renderLead, renderNotice, renderWaitlist } from "./render.ts";

const RESEND = "https://api.resend.com";
const TIMEOUT_MS = 10_000;

/** How long Resend may ask to wait before it is asked again at once: a burst of mails is over its limit for a second. */
const MOST_WAIT_MS = 3000;
/** How often it is asked: what waits in the other line may take the second that was waited for. */
const MOST_TRIES = 5;

/**
 * Refusals that say nothing against the mail (https://resend.com/docs/api-reference/errors): our key or our sender's domain is
 * not valid at the moment, a mail with this idempotency key is being sent, or too many mails are.
 */
const PASSING = new Set([401, 403, 409, 429]);
/** A key that has not the form of one is refused by the status of a mail that is malformed, and told apart by its text. */
const MALFORMED = 400;
const OF_KEY = /\bAPI key\b/i;
const MOST_REASON_BYTES = 4096;

/**
 * Sends one mail by Resend (https://resend.com/docs/api-reference/emails/send-email); calls for the same mail within a day
 * send it once. One whose link works no more is left: its recipient can ask for another. Throws an error if another try may
 * help: without an API key that is valid, without an answer, on 5xx, 409 and 429. Throws `Permanent` for a mail that Resend
 * refuses for good.
 */
export async function send(ctx: Context, message: z.output<typeof MailMessage>): Promise<void> {
  const { id, to, template } = message;
  if (to === null) return;
  if ("token" in message && ctx.now().getTime() >= timeOf(id) + LINK_LASTS_MS[message.template]) {
    return ctx.log.warn("a mail came too late to be sent: its link is over", { template });
  }
  const { RESEND_API_KEY, RESEND_API_BASE, EMAIL_FROM } = ctx.env;
  if (RESEND_API_KEY === undefined) throw new Error("RESEND_API_KEY is not set");
  const request = {
    method: "POST",
    headers: {
      Authorization: `Bearer ${RESEND_API_KEY}`,
      "Content-Type": "application/json",
      "Idempotency-Key": id,
      "User-Agent": "AgentScreening/1.0",
    },
    body: JSON.stringify({ from: EMAIL_FROM, to: [to], ...rendered(ctx, message) }),
    redirect: "manual",
  } as const;
  const ask = async () => {
    const response = await ctx.fetch(`${RESEND_API_BASE ?? RESEND}/emails`, {
      ...request,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const isOfKey = response.status === MALFORMED && OF_KEY.test(await reasonOf(response));
    if (!response.bodyUsed) await response.body?.cancel();
    return { response, isOfKey };
  };
  let { response, isOfKey } = await ask();
  for (let tries = 1; tries < MOST_TRIES && response.status === 429; tries += 1) {
    const wait = retryAfterMs(response.headers.get("retry-after"), ctx.now());
    if (wait === null || wait > MOST_WAIT_MS) break;
    await new Promise((resolve) => setTimeout(resolve, wait));
    ({ response, isOfKey } = await ask());
  }
  const { status, ok } = response;
  if (ok) return;
  if (status < 400 || status >= 500 || PASSING.has(status) || isOfKey) {
    throw new Error(`Resend answered ${status}${isOfKey ? ": the API key is malformed" : ""}`);
  }
  throw new Permanent(`Resend refused the mail ${template} with ${status}`);
}

/** What Resend says of a request that it refuses. */
async function reasonOf(response: Response): Promise<string> {
  return new TextDecoder().decode((await readCapped(response, MOST_REASON_BYTES)) ?? undefined);
}

function rendered({ env }: Context, message: z.output<typeof MailMessage>): Rendered {
  if (message.template === "waitlist_joined") return renderWaitlist(message.params);
  if (message.template === "enterprise_lead") return renderLead(message.params);
  if (!("token" in message)) return renderNotice(message.template, message.params, env.FRONTEND_URL);
  const token = decrypt(message.token, env.DATA_ENCRYPTION_KEYS, "mail");
  return message.template === "workspace_invitation"
    ? renderInvitation(message.params, token, env.FRONTEND_URL)
    : render(message.template, message.params, token, env.FRONTEND_URL);
}
