import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { parseArgs } from "node:util";
import * as z from "zod";
import { json, listen, type Listening } from "../stack/http.ts";

/** How far a timestamp may be from the receiver's clock, in seconds. */
const TOLERANCE_S = 300;

/** The body of every delivery. */
const Event = z.object({
  id: z.uuid(),
  type: z.string(),
  created_at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type Event = z.output<typeof Event>;

/** Tells a genuine new delivery from anything else: null for one, else why it is refused. `body` are the raw bytes. */
export type Check = (headers: IncomingHttpHeaders, body: Uint8Array) => string | null;

/**
 * A check of deliveries signed with `secret`. It takes signatures v2 alone, compares them in constant time, and then
 * refuses a timestamp over five minutes off and a delivery id that came before; it knows ids for as long as their
 * timestamps pass. Only what is signed is remembered, so that no stranger can use an id up.
 */
export function createCheck({ secret, now }: { secret: string; now: () => Date }): Check {
  const seen = new Map<string, number>();
  return (headers, body) => {
    const [timestamp, id, given] = ["timestamp", "delivery", "signature-v2"].map((name) =>
      String(headers[`x-service-${name}`] ?? ""),
    ) as [string, string, string];
    // An id with a dot could take the beginning of the body with it.
    if (!/^\d+$/.test(timestamp) || !/^[0-9a-f-]+$/.test(id)) return "The timestamp or the delivery id is malformed.";
    const hmac = createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(body);
    if (!sameBytes(given, `v2=${hmac.digest("hex")}`)) return "The signature does not match.";
    const at = now().getTime() / 1000;
    if (Math.abs(at - Number(timestamp)) > TOLERANCE_S) return "The timestamp is over five minutes off.";
    for (const [old, until] of seen) if (until < at) seen.delete(old);
    if (seen.has(id)) return "This delivery came before.";
    seen.set(id, Number(timestamp) + TOLERANCE_S);
    return null;
  };
}

/** Whether two texts are the same, in a time that depends on their lengths alone. */
function sameBytes(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** How a receiver is started. */
export interface ReceiverOptions {
  /** Of 127.0.0.1; a free one unless given. */
  port?: number;
  /** That of the webhook. */
  secret: string;
  now?: () => Date;
  /** Takes each event. A throw answers 500, and the service makes another attempt. */
  take: (event: Event) => void;
  /** Takes one line for each delivery that is refused. */
  log?: (line: string) => void;
}

/**
 * Receives events on loopback; `url` is what to register. It answers 204 to a genuine new delivery, 401 to any other,
 * 400 to a body that is no event, 405 to anything but POST.
 */
export function startReceiver({
  port,
  secret,
  now = () => new Date(),
  take,
  log,
}: ReceiverOptions): Promise<Listening> {
  const check = createCheck({ secret, now });
  return listen(({ method, headers, body }) => {
    if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
    const fault = check(headers, body);
    if (fault !== null) {
      log?.(`refused: ${fault}`);
      return json(401, { error: fault });
    }
    const event = Event.safeParse(parseJson(body));
    if (!event.success) return json(400, { error: "The body is no event." });
    take(event.data);
    return { status: 204 };
  }, port);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "9005" } } });
  const secret = process.env["WEBHOOK_SECRET"] ?? "";
  if (secret === "") throw new Error("WEBHOOK_SECRET is to be the secret of the webhook");
  const receiver = await startReceiver({
    port: Number(values.port),
    secret,
    take: (event) => console.log(JSON.stringify(event, null, 2)),
    log: (line) => console.log(line),
  });
  console.log(`The receiver listens at ${receiver.url} for signed events. Ctrl-C ends it.`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void receiver.close());
}
