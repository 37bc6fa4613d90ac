import { describeError } from "../db/client.ts";
import type { Context } from "../platform/context.ts";

/**
 * What a streamed body is made by: its pieces of text in order, none of which is begun before it is asked for; `signal`
 * aborts when nobody reads any more, which may be before the first.
 */
export type Producer = (signal: AbortSignal) => AsyncIterator<string>;

/**
 * A body that is made as it is read: nothing is made ahead of the reader, so a slow one holds the work back and one that
 * is gone ends it. A failure of the producer is logged and breaks the body off, so that half of it never looks whole.
 */
export function streamed(ctx: Pick<Context, "log">, produce: Producer): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const pieces = produce(gone.signal);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (gone.signal.aborted) return;
          if (done === true) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (error) {
          ctx.log.error("stream broke off", { detail: describeError(error) });
          controller.error(error);
        }
      },
      async cancel() {
        gone.abort();
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
