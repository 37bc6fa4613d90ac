import type { Context as HonoContext } from "hono";
import * as z from "zod";
import { route } from "../../shared/http/route.ts";
import { streamed } from "../../shared/http/stream.ts";
import { findingsProblem } from "../../shared/http/validation.ts";
import type { Context } from "../../shared/platform/context.ts";
import { MOST_STREAMS } from "../../shared/platform/streams.ts";
import type { EventStream } from "../../shared/results/follow.ts";
import { followRun } from "../../shared/results/follow-run.ts";
import { followSession } from "../../shared/results/follow-session.ts";

const tag = "Runs";

/** What both streams have in common, for their descriptions. */
const PROTOCOL =
  "The stream ends after its last event; a reader that comes back then gets 204, at which an EventSource stops. It also " +
  "ends after ten minutes, when the caller may no longer see it, or when the session or key by which it is read was " +
  "revoked or rotated, or has expired: connect again. With `Last-Event-ID` it continues after that event. Events arrive within a second or two while " +
  "many happen, and within 15 seconds after a long silence, in which " +
  `a comment comes every five seconds. A caller (an account, without one an address) may have ${MOST_STREAMS.caller} streams ` +
  "open at a time at one isolate of the service: one more there is 429 `too_many_streams`. Isolates count by themselves, and " +
  "a caller may come to several, so do not rely on more. If an isolate has too many streams open, the answer is 503 " +
  "`streams_full`. The place of a reader that is gone becomes free after 20 seconds at the latest.";

/** The Last-Event-ID of a reader that comes back, null without one. Throws 422 for one that the stream never sent. */
function lastEventId(c: HonoContext, pattern: RegExp): string | null {
  const id = c.req.header("last-event-id") ?? "";
  if (id === "") return null;
  if (pattern.test(id)) return id;
  throw findingsProblem([
    {
      in: "header",
      pointer: "/Last-Event-ID",
      code: "invalid_format",
      message: "Send the id of an event of this very stream, or leave the header out to begin anew.",
    },
  ]);
}

/** The answer that carries an event stream, or that tells a reader that it has everything. */
async function answer(c: HonoContext, ctx: Context, stream: EventStream | "seen"): Promise<Response> {
  const headers = { "Cache-Control": "no-store", Vary: "Authorization, Cookie, X-API-Key" };
  if (stream === "seen") return c.newResponse(null, 204, headers);
  const body = streamed(ctx, stream);
  const bodiless = c.req.method === "HEAD";
  if (bodiless) await body.cancel();
  return c.newResponse(bodiless ? null : body, 200, {
    ...headers,
    "Content-Type": "text/event-stream; charset=utf-8",
    "X-Accel-Buffering": "no",
  });
}

export const runEvents = [
  route({
    id: "followRun",
    method: "get",
    path: "/api/v1/runs/{run_id}/events",
    tag,
    summary: "A run's progress as server-sent events",
    description: `\`phase\` for each fact, as in phases, its sequence being the event's id; at last \`run\` with the final RunRead. ${PROTOCOL}`,
    auth: "open",
    subject: "runs",
    limit: "stream",
    streamed: true,
    params: z.object({ run_id: z.uuid() }),
    returns: {
      200: { type: "text/event-stream", description: "Events `phase` and, at last, `run`; their data is JSON" },
      204: null,
    },
    problems: ["not_found", "too_many_streams", "streams_full"],
    async handler({ ctx, principal, params: { run_id }, c }) {
      const id = lastEventId(c, /^(?:\d{1,9}|final)$/);
      return answer(c, ctx, await followRun(ctx, principal, run_id, id === "final" ? id : Number(id)));
    },
  }),
  route({
    id: "followScreeningSession",
    method: "get",
    path: "/api/v1/screening-sessions/{session_id}/events",
    tag,
    summary: "A screening session's progress as server-sent events",
    description:
      "`run` with the RunRead of each member whose status changed (at the beginning: that is no longer queued), then " +
      "`session` with status and counts; the last one's status is completed or cancelled. That of a certification comes with " +
      "its verdict: while it is paused, the stream stays open. Only `session` carries an id, and, where more than some " +
      "megabytes of runs are to be told, the last one of each part of them; `session` follows behind all. A reader that lost the " +
      `connection between two ids is told of those runs again. ${PROTOCOL}`,
    auth: "open",
    subject: "runs",
    limit: "stream",
    streamed: true,
    params: z.object({ session_id: z.uuid() }),
    returns: {
      200: { type: "text/event-stream", description: "Events `run` and `session`; their data is JSON" },
      204: null,
    },
    problems: ["not_found", "too_many_streams", "streams_full"],
    async handler({ ctx, principal, params: { session_id }, c }) {
      const known = lastEventId(c, /^[qrcfx]{0,10000}[+-]?$/) ?? "";
      return answer(c, ctx, await followSession(ctx, principal, session_id, known));
    },
  }),
];
