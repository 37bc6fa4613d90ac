import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** Debian's browser, or the one that `CHROMIUM` names. */
const BROWSER = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether there is a browser on this machine. */
export const hasBrowser = existsSync(BROWSER);
if (!hasBrowser) console.warn(`Nothing is tried in a browser: there is none at ${BROWSER} (apt-get install chromium).`);

/** Starts the browser, without a window. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox", "--disable-gpu"] });
}

/**
 * Adds to `faults` what fails in the pages of a context from now on, and what their policy forbids them, but for what the
 * console says of `expected` answers.
 */
export function noteFaults(context: BrowserContext, faults: string[], expected = /status of 4\d\d/): void {
  context.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text())) faults.push(message.text());
  });
  context.on("weberror", (error) => void faults.push(String(error.error())));
}
