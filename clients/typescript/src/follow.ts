import type { components, paths } from "./generated/service.ts";
import { urlOf } from "./pages.ts";
import { errorOf, ServiceError, typeOf } from "./problem.ts";
import type { Retries, Send } from "./retry.ts";
import { messagesOf } from "./server-sent-events.ts";

type Schemas = components["schemas"];

/** A session on its way: without its plan and the ids of its runs. */
export type SessionProgress = Omit<Schemas["ScreeningSessionRead"], "task_plan" | "run_ids">;

interface Streams {
  "/api/v1/runs/{run_id}/events":
    | { event: "phase"; data: Schemas["RunPhases"]["items"][number] }
    | { event: "run"; data: Schemas["RunRead"] };
  "/api/v1/screening-sessions/{session_id}/events":
    | { event: "run"; data: Schemas["RunRead"] }
    | { event: "session"; data: SessionProgress };
}

/** The paths of the event streams. */
export type StreamPath = keyof Streams & keyof paths;

/** What comes on a stream. */
export type StreamEvent<P extends StreamPath> = Streams[P];

/** Which stream to follow. */
export interface FollowOptions<P extends StreamPath> {
  path: paths[P]["get"]["parameters"]["path"];
  signal?: AbortSignal;
}

const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A service that is away for so long is not waited for any longer. */
const LONGEST_AWAY_MS = 120_000;

/** The `follow` of a client. */
export function follower(baseUrl: string, send: Send, { retries, sleep }: Retries) {
  return async function* follow<P extends StreamPath>(
    path: P,
    { path: params, signal = new AbortController().signal }: FollowOptions<P>,
  ): AsyncGenerator<StreamEvent<P>, void> {
    const url = urlOf(baseUrl, path, { path: params });
    let [opened, lastId, away] = [false, "", 0];
    for (let silent = 0; ; silent++) {
      const headers = { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) };
      try {
        const asked = Date.now();
        // What is sent again, and what nobody answers, takes its time as well.
        const response = await send(new Request(url, { headers, signal })).finally(() => (away += Date.now() - asked));
        if (response.status === 204) return;
        if (!response.ok || response.body === null) throw await errorOf(response);
        if (!typeOf(response).startsWith("text/event-stream")) throw new ServiceError(response);
        opened = true;
        for await (const { id, event, data } of messagesOf(response.body)) {
          [silent, away] = [0, 0];
          // The service's own JSON, as its description has it.
          const message: StreamEvent<P> = JSON.parse(`{"event":${JSON.stringify(event)},"data":${data}}`);
          yield message;
          // Only once it was taken: whoever stops within it is told of it again.
          lastId = id;
        }
        away = 0;
      } catch (error) {
        if (signal.aborted || retries === 0 || away >= LONGEST_AWAY_MS || !passes(error, opened)) throw error;
      }
      // Streams end after ten minutes, and with their last event; 204 tells which it was.
      if (silent === 0) continue;
      const pause = Math.min(PAUSE_MS * 2 ** silent, LONGEST_PAUSE_MS);
      await sleep(pause, signal);
      away += pause;
    }
  };
}

/**
 * Whether a stream may be had by and by: the service was away, or it said that it can't answer for now; or, of a stream that was
 * `opened` there, another answered in its place.
 */
function passes(error: unknown, opened: boolean): boolean {
  if (error instanceof ServiceError)
    return (opened && error.status < 400) || (error.status >= 500 && error.code !== "streams_full");
  return !(error instanceof SyntaxError);
}
