import { expect, vi } from "vitest";
import type { TestService } from "../../stack/service.ts";

/**
 * How a call ends: as an `error` of the other side, after which all goes on; or with the process, before it reaches the
 * other side (`down`) or after its work is done there (`lost`).
 */
export type Crash = "error" | "down" | "lost";

/**
 * Does `work` once for each of the service's calls of database and provider that it makes, and crashes at it;
 * `arrange` comes before and `check` after it, with what was arranged. Returns at how many calls it has crashed.
 */
export async function crashAtEach<W>(
  service: TestService,
  crash: Crash,
  path: { arrange(): Promise<W>; work(world: W): Promise<unknown>; check(world: W): Promise<void> },
): Promise<number> {
  for (let step = 1; step < 30; step += 1) {
    const world = await path.arrange();
    const crashed = await crashing(service, step, crash, () => path.work(world));
    await path.check(world);
    if (!crashed) return step - 1;
  }
  throw expect.fail("the calls do not end");
}

async function crashing(
  service: TestService,
  step: number,
  crash: Crash,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const { fetch } = globalThis;
  const watched = [service.settings["NEON_LOCAL_PROXY"], service.stripe.url].map(String);
  let calls = 0;
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const url = String(input instanceof Request ? input.url : input);
    if (!watched.some((origin) => url.startsWith(origin))) return fetch(input, init);
    calls += 1;
    if (calls < step || (calls > step && crash === "error")) return fetch(input, init);
    if (crash === "error") return new Response("{}", { status: 500, headers: { "content-type": "application/json" } });
    if (calls === step && crash === "lost") await (await fetch(input, init)).arrayBuffer();
    throw new TypeError("fetch failed");
  });
  try {
    await work().catch(() => undefined);
    await service.settled();
  } finally {
    vi.unstubAllGlobals();
  }
  return calls >= step;
}
