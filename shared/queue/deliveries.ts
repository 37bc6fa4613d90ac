import { Buffer } from "node:buffer";
import type { Context as HonoContext, Env, Hono } from "hono";
import * as z from "zod";
import { describeError, isOurFault } from "../db/client.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { type Consumer, type End, Permanent } from "./consumer.ts";

/** What the consumers need from the service: a context for each delivery. */
export interface Deliverer {
  context(request: Pick<Context, "requestId" | "addressHash" | "defer"> & { isBackground: true }): Context;
}

/** QStash's notice that its tries are over: the message's URL and body, and the status of the last answer, if there was any. */
const FailureCallback = z.object({ url: z.string(), sourceBody: z.string(), status: z.number().optional() });

/** The status by which QStash is told that no further try can help. */
const NEVER_AGAIN = 489;
/**
 * The status by which we know again, when the tries are over, that the database was what the last one lacked. It is none that
 * Cloudflare answers by in the place of a Worker, as it does by 503 for one that took too much time or memory.
 */
const UNAVAILABLE = 507;

/** Never tried again: the signature or the message itself is wrong. */
function refuse(reason: string): Response {
  return new Response(reason, { status: NEVER_AGAIN, headers: { "Upstash-NonRetryable-Error": "true" } });
}

/**
 * Has the app answer what QStash delivers: `/queues/{name}` for each consumer, `/queues/dead` for what failed for the last
 * time. Every delivery must be signed by QStash for exactly this URL and body; a failure, or a message of another version of
 * the service, answers 500, and UNAVAILABLE where it is the database's, so that it comes again.
 */
export function addDeliveries<E extends Env>(
  app: Pick<Hono<E>, "post">,
  service: Deliverer,
  consumers: Readonly<Record<string, () => Promise<Consumer>>>,
): void {
  for (const [name, load] of Object.entries(consumers)) {
    app.post(`/queues/${name}`, async (c) => {
      const ctx = contextOf(service, c, name);
      const raw = await verified(ctx, c);
      if (raw === null) return c.text("the signature is not valid", 401);
      const { body: schema, handle } = await load();
      const message = parse(raw);
      if (message === undefined) return refuse("the message is malformed");
      return carryOut(ctx, c, async () => {
        const body = schema.parse(message);
        ctx.log = ctx.log.with(subject(body));
        await handle(ctx, body);
      });
    });
  }
  app.post("/queues/dead", async (c) => {
    const ctx = contextOf(service, c, "dead");
    const raw = await verified(ctx, c);
    if (raw === null) return c.text("the signature is not valid", 401);
    const callback = FailureCallback.safeParse(parse(raw));
    if (!callback.success) return refuse("the callback is malformed");
    const known = Object.entries(consumers).find(
      ([name]) => callback.data.url === `${ctx.env.BASE_URL}/queues/${name}`,
    );
    const consumer = await known?.[1]();
    if (consumer === undefined) return refuse("there is no such consumer");
    return carryOut(ctx, c, async () => {
      const body = consumer.body.parse(parse(Buffer.from(callback.data.sourceBody, "base64").toString()));
      ctx.log.error("message died", { consumer: consumer.name, ...subject(body) });
      await consumer.dead(ctx, body, endOf(callback.data.status));
    });
  });
}

function endOf(status: number | undefined): End {
  if (status === NEVER_AGAIN) return "refused";
  return status === UNAVAILABLE ? "unavailable" : "failed";
}

function contextOf(service: Deliverer, c: HonoContext, consumer: string): Context {
  const ctx = service.context({
    requestId: newId(new Date()),
    addressHash: null,
    isBackground: true,
    defer: (work) => c.executionCtx.waitUntil(work()),
  });
  ctx.log = ctx.log.with({ consumer, message_id: c.req.header("upstash-message-id") });
  return ctx;
}

const AboutRun = z.object({ run_id: z.string() });

/** The run that a message is about, for the log. */
function subject(body: unknown): { run_id?: string } {
  return AboutRun.safeParse(body).data ?? {};
}

/** The raw body, when QStash signed it for this URL; else null. */
async function verified(ctx: Context, c: HonoContext): Promise<string | null> {
  const raw = await c.req.text();
  const { isGenuine } = await import("./genuine.ts");
  const signature = c.req.header("upstash-signature") ?? "";
  const valid = await isGenuine(ctx.env, { signature, body: raw, url: ctx.env.BASE_URL + c.req.path });
  return valid ? raw : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Answers 500 where the work fails, UNAVAILABLE where it does for the database's sake. A message whose shape is not known here
 * fails, too: while a deployment spreads, another version owed it, and one of that version takes it when it comes again.
 */
async function carryOut(ctx: Context, c: HonoContext, work: () => Promise<void>): Promise<Response> {
  try {
    await work();
    return c.text("done");
  } catch (error) {
    ctx.log.error("delivery failed", { detail: describeError(error) });
    if (error instanceof Permanent) return refuse("this message can't be carried out");
    return c.text("failed; try again", isOurFault(error) ? UNAVAILABLE : 500);
  }
}
