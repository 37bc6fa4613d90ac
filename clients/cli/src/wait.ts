import { setTimeout as delay } from "node:timers/promises";
import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { SessionProgress } from "../../typescript/src/follow.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import type { Progress } from "./progress.ts";

/** While no stream is open, so often is asked at first, and at most, in milliseconds. */
const [FIRST_MS, LONGEST_MS] = [2000, 15_000];
const NO_STREAM = new Set(["too_many_streams", "streams_full"]);

/** Waits for the end of a session and shows how far it is: by its event stream, or by asking where no stream is free. */
export async function finished(
  client: ScreeningClient,
  session_id: string,
  progress: Progress,
): Promise<SessionProgress> {
  try {
    return await streamed(client, session_id, progress);
  } catch (error) {
    if (!(error instanceof ServiceError) || !NO_STREAM.has(error.code)) throw error;
    return await polled(client, session_id, progress);
  } finally {
    progress.end();
  }
}

async function streamed(client: ScreeningClient, session_id: string, progress: Progress): Promise<SessionProgress> {
  const path = "/api/v1/screening-sessions/{session_id}/events";
  for await (const { event, data } of client.follow(path, { path: { session_id } })) {
    if (event !== "session") continue;
    show(data, progress);
    if (isOver(data)) return data;
  }
  return given(client.GET("/api/v1/screening-sessions/{session_id}", { params: { path: { session_id } } }));
}

async function polled(client: ScreeningClient, session_id: string, progress: Progress): Promise<SessionProgress> {
  for (let pause = FIRST_MS; ; pause = Math.min(pause * 1.5, LONGEST_MS)) {
    const session = await given(
      client.GET("/api/v1/screening-sessions/{session_id}", { params: { path: { session_id } } }),
    );
    show(session, progress);
    if (isOver(session)) return session;
    await delay(pause);
  }
}

function isOver({ status }: SessionProgress): boolean {
  return status === "completed" || status === "cancelled";
}

function show({ counts }: SessionProgress, progress: Progress): void {
  const { queued, running, completed, failed, cancelled, passed } = counts;
  const done = completed + failed + cancelled;
  progress.show(done, done + queued + running, `passed ${passed}, without an answer ${failed}`);
}
