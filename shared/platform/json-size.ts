import { Buffer } from "node:buffer";
import type * as z from "zod";

const KIB = 1024;

/**
 * A check for schemas: the value's JSON text has at most `kib` KiB in UTF-8, numbers written out as the database writes them:
 * 1e300 takes 301 bytes, so that what is sent as little text is little text, too, whenever it is read.
 */
export function atMost<T>(kib: number): z.core.CheckFn<T> {
  return ({ value, issues }) => {
    if (bytesOf(value) <= kib * KIB) return;
    const message = `Give at most ${kib} KiB of JSON.`;
    issues.push({ code: "too_big", origin: "json", maximum: kib * KIB, input: value, message });
  };
}

function bytesOf(value: unknown): number {
  let zeros = 0;
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "number") zeros += Number(/e[+-](\d+)$/.exec(String(part))?.[1] ?? 0);
    return part;
  });
  return Buffer.byteLength(text) + zeros;
}
