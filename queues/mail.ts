import { MailMessage } from "../shared/mail/message.ts";
import { leave, sendOnce } from "../shared/mail/send-once.ts";
import { consumer, owedUntil } from "../shared/queue/consumer.ts";

/** Sends a mail. One that can't be sent stays owed unless Resend refuses it, until its link is over or three days are. */
export const mailConsumer = consumer({
  name: "mail",
  body: MailMessage,
  ...owedUntil(leave),
  timeoutSeconds: 30,
  // Resend takes five requests a second: of many at once nearly all would come late, and the last ones never.
  parallelism: 1,
  handle: sendOnce,
});
