import { createHash } from "node:crypto";

/** Where a page finds a script: another text has another address, so each is kept for good. */
export function addressOfScript(path: `/${string}.js`, source: string): string {
  return `${path}?v=${createHash("sha256").update(source).digest("hex").slice(0, 12)}`;
}
