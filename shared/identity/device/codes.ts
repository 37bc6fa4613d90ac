import { randomInt } from "node:crypto";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { hasher } from "../sessions/familiar.ts";

/** How long both codes of a program hold, and how often it may ask, in seconds. */
export const DEVICE_SECONDS = 600;
export const INTERVAL_SECONDS = 5;

/** Without vowels no word comes about, and no letter is taken for a digit. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** A new code to be typed on the page, one of 2.5 × 10^10, such as `WDJB-MJHT`. */
export function newUserCode(): string {
  return asShown(Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join(""));
}

/** A typed code as the program shows it, whatever its case, spaces and hyphens. */
export function asShown(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[\s-]/gu, "");
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}

/** The hash by which a typed code is found; keyed, as a code can be guessed from a plain one. */
export function hashOfUserCode(ctx: Context, typed: string): string {
  return hasher(ctx)(`user code ${asShown(typed)}`);
}

/** The hash of the network that the caller is in. */
export function hashOfNetwork(ctx: Context): string {
  return hasher(ctx)(`network ${ctx.network?.() ?? "unknown"}`);
}

/** The one answer to every code that nobody asks with, any more or for somebody else. */
export function noDevice(): Problem {
  return new Problem(
    "not_found",
    "No program asks with this code. It holds for ten minutes and is answered once: let the program show a new one.",
  );
}
