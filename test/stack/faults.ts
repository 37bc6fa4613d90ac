import { setTimeout as delay } from "node:timers/promises";
import { CUT, type Handler, json, type Reply, type Request } from "./http.ts";

/** The fronts that can be made to fail. */
export const SERVICES = ["db", "redis", "qstash", "resolver", "mail", "provider"] as const;

/** A front that can be made to fail: `provider` is the payment provider. */
export type Service = (typeof SERVICES)[number];

/**
 * How a front fails: `down` cuts the connection, `hang` does not answer for `ms` (else until lifted), `error` answers
 * 500 (the resolver 503), `rate_limited` 429 and `garbage` 200 with what no client understands, all three without doing
 * anything; `truncated` does the work and answers half of it, `lost` does it and cuts the connection; `servfail` is for the
 * resolver: 200 with the status of a name whose own servers fail, which is up to whoever has the name; `severed` is for the
 * database: 400 with an empty SQLSTATE, as Neon's proxy answers where its connection to PostgreSQL breaks; `none` is no fault.
 */
export const MODES = [
  "down",
  "hang",
  "error",
  "rate_limited",
  "garbage",
  "truncated",
  "lost",
  "servfail",
  "severed",
  "none",
] as const;

/** A way to fail, or none. */
export type FaultMode = (typeof MODES)[number];

/** A fault of one service, for all its calls or for the next `count` of them. */
export interface Fault {
  readonly service: Service;
  readonly mode: FaultMode;
  readonly count?: number | undefined;
  readonly ms?: number | undefined;
  /** Narrows the fault to the calls whose `METHOD /path` contains this. */
  readonly path?: string | undefined;
  /** Narrows it to the calls whose body contains this, so that no other work takes one of `count`. */
  readonly body?: string | undefined;
}

/** The registry that the fronts share. */
export interface Faults {
  /** Replaces the service's fault and ends its hangs: a call that waited is then done and answered as usual. */
  set(fault: Fault): void;
  /** How many calls of the service hang just now. */
  hanging(service: Service): number;
  /** The services that have a front here, so that a fault of theirs is felt. */
  offered(): readonly Service[];
  /**
   * `handler` as a client sees it while the service's fault applies. A hung call whose caller left is not done.
   * `truncate` makes half an answer of a whole one, in the way of the service's protocol.
   */
  around(service: Service, handler: Handler, truncate?: (reply: Reply) => Reply): Handler;
}

interface Active {
  readonly mode: FaultMode;
  readonly ms: number | undefined;
  readonly path: string;
  readonly body: string;
  readonly lifted: AbortController;
  left: number;
}

/** The status of RFC 1035 by which a resolver says that the servers of a name failed. */
const SERVFAIL = 2;

/** A registry without faults. */
export function createFaults(): Faults {
  const active = new Map<Service, Active>();
  const fronts = new Set<Service>();
  const hung = new Map<Service, number>();

  function take(service: Service, { method, url, body }: Request): Active | undefined {
    const fault = active.get(service);
    if (fault === undefined || fault.left <= 0) return undefined;
    if (!`${method} ${url.pathname}`.includes(fault.path) || !body.includes(fault.body)) return undefined;
    fault.left -= 1;
    return fault;
  }

  return {
    set({ service, mode, count = Number.POSITIVE_INFINITY, ms, path = "", body = "" }) {
      active.get(service)?.lifted.abort();
      active.set(service, { mode, ms, path, body, lifted: new AbortController(), left: mode === "none" ? 0 : count });
    },
    hanging: (service) => hung.get(service) ?? 0,
    offered: () => [...fronts],
    around(service, handler, truncate = halved) {
      fronts.add(service);
      return async (request) => {
        const fault = take(service, request);
        switch (fault?.mode) {
          case "down":
            return CUT;
          case "error":
            return json(service === "resolver" ? 503 : 500, { error: `${service} fault`, message: `${service} fault` });
          case "rate_limited":
            return json(429, { error: `${service} fault`, message: `${service} fault` }, { "retry-after": "1" });
          case "garbage":
            return { status: 200, headers: { "content-type": "text/html" }, body: "<p>Not what you asked for.</p>" };
          case "servfail":
            return json(200, { Status: SERVFAIL, TC: false }, { "content-type": "application/dns-json" });
          case "severed":
            return json(400, { message: "connection closed", code: "", severity: null });
          case "truncated": {
            const reply = await handler(request);
            return reply === CUT ? CUT : truncate(reply);
          }
          case "lost":
            await handler(request);
            return CUT;
          case "hang":
            hung.set(service, (hung.get(service) ?? 0) + 1);
            await hang(fault.ms, AbortSignal.any([fault.lifted.signal, request.gone]));
            hung.set(service, (hung.get(service) ?? 0) - 1);
            return request.gone.aborted ? CUT : handler(request);
          default:
            return handler(request);
        }
      };
    },
  };
}

function halved(reply: Reply): Reply {
  const body = Buffer.from(reply.body ?? "");
  return { ...reply, body: body.subarray(0, Math.floor(body.length / 2)) };
}

// The longest delay that a Node timer takes, 24 days, stands for no limit.
const FOREVER_MS = 2 ** 31 - 1;

async function hang(ms = FOREVER_MS, until: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: until, ref: false }).catch(() => undefined);
}
