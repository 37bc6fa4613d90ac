import { sendLater } from "../shared/mail/again.ts";
import { MailMessage } from "../shared/mail/message.ts";
import { send } from "../shared/mail/send.ts";
import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";

/** Sends a mail. One that can't be sent is logged, and owed anew unless Resend refuses it. */
export const mailConsumer = consumer({
  name: "mail",
  body: MailMessage,
  // The last retry comes about 8 hours later, while Resend still knows the idempotency key; most tokens work then, too.
  ...UNHURRIED,
  timeoutSeconds: 30,
  // Resend takes five requests a second: of many at once nearly all would come late, and the last ones never.
  parallelism: 1,
  handle: send,
  dead: (ctx, message, end) => (end === "refused" ? Promise.resolve() : sendLater(ctx, message)),
});
