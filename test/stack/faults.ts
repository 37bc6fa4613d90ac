import { setTimeout as delay } from "node:timers/promises";
import { CUT, type Handler, json, type Request } from "./http.ts";

/** A front that can be made to fail. */
export type Service = "db" | "redis" | "qstash" | "stripe";

/**
 * How a front fails: `down` cuts the connection, `hang` does not answer for `ms` (else until lifted), `error` answers
 * 500 without doing anything, `lost` does the work and then cuts the connection, `none` is no fault.
 */
export type FaultMode = "down" | "hang" | "error" | "lost" | "none";

/** A fault of one service, for all its calls or for the next `count` of them. */
export interface Fault {
  readonly service: Service;
  readonly mode: FaultMode;
  readonly count?: number | undefined;
  readonly ms?: number | undefined;
  /** Narrows the fault to the calls whose `METHOD /path` contains this. */
  readonly path?: string | undefined;
}

/** The registry that the fronts share. */
export interface Faults {
  /** Replaces the service's fault and ends its hangs: a call that waited is then done and answered as usual. */
  set(fault: Fault): void;
  /** `handler` as a client sees it while the service's fault applies. A hung call whose caller left is not done. */
  around(service: Service, handler: Handler): Handler;
}

interface Active {
  readonly mode: FaultMode;
  readonly ms: number | undefined;
  readonly path: string;
  readonly lifted: AbortController;
  left: number;
}

/** A registry without faults. */
export function createFaults(): Faults {
  const active = new Map<Service, Active>();

  function take(service: Service, { method, url }: Request): Active | undefined {
    const fault = active.get(service);
    if (fault === undefined || fault.left <= 0 || !`${method} ${url.pathname}`.includes(fault.path)) return undefined;
    fault.left -= 1;
    return fault;
  }

  return {
    set({ service, mode, count = Number.POSITIVE_INFINITY, ms, path = "" }) {
      active.get(service)?.lifted.abort();
      active.set(service, { mode, ms, path, lifted: new AbortController(), left: mode === "none" ? 0 : count });
    },
    around: (service, handler) => async (request) => {
      const fault = take(service, request);
      switch (fault?.mode) {
        case "down":
          return CUT;
        case "error":
          return json(500, { error: `${service} fault`, message: `${service} fault` });
        case "lost":
          await handler(request);
          return CUT;
        case "hang":
          await hang(fault.ms, AbortSignal.any([fault.lifted.signal, request.gone]));
          return request.gone.aborted ? CUT : handler(request);
        default:
          return handler(request);
      }
    },
  };
}

// The longest delay that a Node timer takes, 24 days, stands for no limit.
const FOREVER_MS = 2 ** 31 - 1;

async function hang(ms = FOREVER_MS, until: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: until, ref: false }).catch(() => undefined);
}
