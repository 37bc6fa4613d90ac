import { setTimeout as delay } from "node:timers/promises";
import { json } from "../stack/http.ts";
import { runAlone } from "./command-line.ts";
import type { AgentRequest } from "./protocol.ts";
import { work } from "./sample.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "./server.ts";

const DEFAULT_DELAY_MS = 200;
/** What to wait before each try to report. */
const TRIES_MS = [0, 500, 2000, 8000];
const REPORT_MS = 10_000;

/** How a callback agent is started; `delayMs` is how long after its 202 it begins to work. */
export interface CallbackOptions extends AgentOptions {
  delayMs?: number;
}

/**
 * Starts the sample agent as one that takes its time: it answers 202 and reports by callback. A report that does not
 * get through is tried again until the deadline. A callback to anywhere but the service is refused with 400, so that
 * nobody can have this agent call strangers. `close` drops what is not reported yet.
 */
export async function startCallback(options: CallbackOptions): Promise<RunningAgent> {
  const { service, now = () => new Date(), log = () => undefined, delayMs = DEFAULT_DELAY_MS } = options;
  const pending = new Map<string, Promise<void>>();
  const stop = new AbortController();

  async function workAndReport(request: AgentRequest): Promise<void> {
    await delay(delayMs, undefined, { signal: stop.signal });
    const status = await report(request, now, stop.signal);
    log(`${request.run_id}: ${status === null ? "could not be reported in time" : `reported, ${status}`}`);
  }

  const agent = await startAgent((request) => {
    const { url, token } = request.callback;
    if (new URL(url).origin !== new URL(service).origin) return json(400, { error: "The callback leads elsewhere." });
    // The token names the attempt: a call that is repeated on the way is worked on once.
    if (!pending.has(token)) {
      const done = workAndReport(request)
        .catch((error: unknown) => log(`${request.run_id}: dropped, ${String(error)}`))
        .finally(() => pending.delete(token));
      pending.set(token, done);
    }
    return { status: 202 };
  }, options);

  return {
    url: agent.url,
    async close() {
      stop.abort();
      await agent.close();
      await Promise.all(pending.values());
    },
  };
}

/** The status with which the service took or refused the report; null where none came before the deadline. */
async function report(request: AgentRequest, now: () => Date, stop: AbortSignal): Promise<number | null> {
  const { callback, deadline, task } = request;
  // A callback has no flag for a refusal: the text of the answer says it.
  const { refused: _, ...answer } = work(task);
  for (const wait of TRIES_MS) {
    await delay(wait, undefined, { signal: stop });
    if (now().getTime() >= Date.parse(deadline)) return null;
    const status = await send(callback, JSON.stringify({ status: "completed", ...answer }), stop);
    if (status !== null && status < 500 && status !== 429) return status;
  }
  return null;
}

async function send({ url, method, token }: AgentRequest["callback"], body: string, stop: AbortSignal) {
  try {
    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body,
      redirect: "manual",
      signal: AbortSignal.any([stop, AbortSignal.timeout(REPORT_MS)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

if (import.meta.main) {
  await runAlone("callback", { port: 9003, "delay-ms": DEFAULT_DELAY_MS }, (options, numberOf) =>
    startCallback({ ...options, delayMs: numberOf("delay-ms") }),
  );
}
