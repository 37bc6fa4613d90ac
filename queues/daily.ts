import { DailyMessage } from "../shared/daily/message.ts";
import { giveTurnUp, takeTurn } from "../shared/daily/turn.ts";
import { consumer } from "../shared/queue/consumer.ts";

/** Does the next pieces of an item of the daily work. An item whose last retry fails starts anew the next day. */
export const dailyConsumer = consumer({
  name: "daily",
  body: DailyMessage,
  // The last retry comes about half an hour later.
  retries: 3,
  // A turn starts no piece after 30 seconds; one piece waits for at most 20 answers, usually for one.
  timeoutSeconds: 300,
  parallelism: null,
  handle: takeTurn,
  dead: giveTurnUp,
});
