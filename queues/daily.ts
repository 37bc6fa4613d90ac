import { DailyMessage } from "../shared/daily/message.ts";
import { giveTurnUp, takeTurn } from "../shared/daily/turn.ts";
import { consumer } from "../shared/queue/consumer.ts";

/** Does the next pieces of an item of the daily work. What fails for the last time begins anew the next day. */
export const dailyConsumer = consumer({
  name: "daily",
  body: DailyMessage,
  // The last about half an hour later.
  retries: 3,
  // A turn begins no piece after 30 seconds; one piece waits for 20 answers at most, and mostly for one.
  timeoutSeconds: 300,
  parallelism: null,
  handle: takeTurn,
  dead: giveTurnUp,
});
