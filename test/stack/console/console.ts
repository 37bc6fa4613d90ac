import * as z from "zod";
import type { Broker } from "../broker/broker.ts";
import type { Counters } from "../counters.ts";
import { type Faults, MODES, SERVICES } from "../faults.ts";
import { type Handler, json, type Listening, listen, type Request } from "../http.ts";
import { consolePage } from "./page.ts";
import type { Mailbox } from "../mailbox.ts";
import { LEVELS, type WorkerLog } from "../worker/log.ts";

/** The parts of a stack that the console shows and moves. */
export interface ConsoleParts {
  service: string;
  broker: Broker;
  counters: Counters;
  faults: Faults;
  mailbox: Mailbox;
  log: WorkerLog;
  /** Runs the scheduled handlers for one cron expression, or for all, and waits until their work is done. */
  cron(expression?: string): Promise<void>;
}

const Advance = z.strictObject({
  ms: z
    .number()
    .int()
    .min(0)
    .max(366 * 86_400_000),
});
const Cron = z.strictObject({ cron: z.string().optional() });
const FaultBody = z.strictObject({
  service: z.enum(SERVICES),
  mode: z.enum(MODES),
  count: z.number().int().min(1).optional(),
  ms: z.number().int().min(0).optional(),
});
const LogQuery = z.strictObject({ level: z.enum(LEVELS).optional(), contains: z.string().optional() });

/** Serves the console of a local stack: a page for a person, JSON for a script. */
export function startConsole(parts: ConsoleParts, port: number): Promise<Listening> {
  const { broker, counters, faults, log, mailbox } = parts;
  const routes: Record<string, Handler> = {
    "GET /": (request) =>
      request.headers.accept?.includes("text/html") === true
        ? { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: consolePage(parts) }
        : json(200, {
            service: parts.service,
            queue: broker.stats(),
            counters: counters.snapshot(),
            mail: mailbox.list().length,
          }),
    "GET /mail": (request) => json(200, mailbox.list(request.url.searchParams.get("to") ?? undefined)),
    "DELETE /mail": () => {
      mailbox.clear();
      return { status: 204 };
    },
    "GET /log": ({ url: { searchParams } }) => json(200, log.lines(LogQuery.parse(Object.fromEntries(searchParams)))),
    "GET /queue": () => json(200, broker.stats()),
    "POST /queue/advance": async (request) => {
      await broker.advance(read(Advance, request).ms);
      return json(200, broker.stats());
    },
    "POST /cron": async (request) => {
      await parts.cron(read(Cron, request).cron);
      return json(200, { ok: true });
    },
    "GET /counters": () => json(200, counters.snapshot()),
    "POST /counters/reset": () => {
      counters.reset();
      return json(200, counters.snapshot());
    },
    "POST /faults": (request) => {
      const fault = read(FaultBody, request);
      if (!faults.offered().includes(fault.service)) {
        const error = `This stack has no front of ${fault.service}. Those that can fail here: ${faults.offered().join(", ")}.`;
        return json(400, { error });
      }
      faults.set(fault);
      return json(200, fault);
    },
  };
  return listen(async (request) => {
    const handler = routes[`${request.method} ${request.url.pathname}`];
    if (handler === undefined) return json(404, { error: "There is nothing here.", routes: Object.keys(routes) });
    try {
      return await handler(request);
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) return json(400, { error: error.message });
      throw error;
    }
  }, port);
}

function read<T>(schema: z.ZodType<T>, { body }: Request): T {
  const text = body.toString();
  return schema.parse(text === "" ? {} : JSON.parse(text));
}
