import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const ATTEMPTS = 40;
const ATTEMPT_MS = 250;

/**
 * Waits until nothing listens at a port of this machine: a killed stack may not have given it up yet.
 * @throws when something else keeps it, naming the setting that moves it.
 */
export async function untilFree(port: number, setting: string, attempts: number = ATTEMPTS): Promise<void> {
  for (let attempt = 1; !(await isFree(port)); attempt += 1) {
    if (attempt === attempts)
      throw new Error(`Something else listens at 127.0.0.1:${port}: end it, or set ${setting} to another port.`);
    await delay(ATTEMPT_MS);
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
