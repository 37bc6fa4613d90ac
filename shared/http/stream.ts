import { describeError } from "../db/client.ts";
import type { Context } from "../platform/context.ts";

/**
 * Makes the pieces of a streamed body in order, each only when it is asked for. `signal` aborts when the reader is gone,
 * which may be before the first piece.
 */
export type Producer = (signal: AbortSignal) => AsyncIterator<string | Uint8Array>;

/**
 * A body that is made as it is read. Nothing is made ahead of the reader: a slow one slows the work down, one that is gone
 * ends it. If the producer fails, that is logged and the body breaks off, so that half of it never looks whole.
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
          else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
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
