import type { StatusCode } from "hono/utils/http-status";

/** What a handler answers: a status, and a body to send as JSON, filtered by the schema declared for that status. */
export interface Reply {
  status: StatusCode;
  body: unknown;
  headers: Record<string, string>;
  /** The body is text of the media type in the headers, and is sent as it is. */
  verbatim?: true;
}

/** 200. */
export const ok = (body: unknown, headers: Record<string, string> = {}): Reply => ({ status: 200, body, headers });

/** 200 with text of a media type that is not JSON; the route declares the type. */
export const verbatim = (body: string, type: string, headers: Record<string, string> = {}): Reply => ({
  ...ok(body, { ...headers, "Content-Type": type }),
  verbatim: true,
});

/** 201, with the address of what was created. */
export const created = (body: unknown, location?: string): Reply => ({
  status: 201,
  body,
  headers: location === undefined ? {} : { Location: location },
});

/** 202. */
export const accepted = (body: unknown, location?: string): Reply => ({ ...created(body, location), status: 202 });

/** 204. */
export const noContent = (): Reply => ({ status: 204, body: null, headers: {} });

/** A reply that shows what depends on the caller, so that no cache in between may keep it. */
export const privately = (reply: Reply): Reply => ({
  ...reply,
  headers: { ...reply.headers, "Cache-Control": "private, no-store", Vary: "Authorization, Cookie" },
});
