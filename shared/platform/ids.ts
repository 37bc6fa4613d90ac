import { v7, validate } from "uuid";

/** A new UUIDv7 (RFC 9562) whose time part is `at`. */
export function newId(at: Date): string {
  return v7({ msecs: at.getTime() });
}

/** The time part of a UUIDv7, in Unix milliseconds. */
export function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
}

/** True for any UUID text. */
export function isId(text: string): boolean {
  return validate(text);
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The request id to use: the caller's where it is well-formed, else a new one. */
export function requestId(given: string | null | undefined, at: Date): string {
  return given != null && REQUEST_ID.test(given) ? given : newId(at);
}
