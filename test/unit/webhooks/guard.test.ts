import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type { SessionPrincipal } from "../../../shared/identity/principal.ts";
import type { Context } from "../../../shared/platform/context.ts";
import type { DnsResolver } from "../../../shared/platform/outbound/resolve.ts";
import { Problem } from "../../../shared/platform/problem.ts";
import { createWebhook } from "../../../shared/webhooks/create.ts";
import { updateWebhook } from "../../../shared/webhooks/update.ts";
import { HOSTILE_URLS } from "../outbound/hostile-urls.ts";
import { ENV } from "../runs/protocols-support.ts";

const principal: SessionPrincipal = {
  kind: "session",
  userId: randomUUID(),
  sessionId: randomUUID(),
  tokenId: randomUUID(),
  expiresAt: new Date(),
  viaCookie: false,
};

type Door = (ctx: Context, url: string) => Promise<unknown>;

const DOORS: [string, Door][] = [
  ["is made", (ctx, url) => createWebhook(ctx, principal, { url, event_types: ["run.failed"], is_active: true })],
  ["is changed", (ctx, url) => updateWebhook(ctx, principal, randomUUID(), { url })],
];

describe.each(DOORS)("a URL that its text forbids, when a subscription %s", (_when, enter) => {
  it.each(Object.values(HOSTILE_URLS).flat())("is refused before anybody is asked: %j", async (url) => {
    const query = vi.fn<DnsResolver["query"]>();
    // Nothing but settings and resolver: whatever went on to the database would fail otherwise.
    const env = { ...ENV, ENVIRONMENT: "production" };
    const ctx = { env, resolver: { query }, idempotency: null } as unknown as Context;
    const error = await enter(ctx, url).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).code).toBe("endpoint_not_allowed");
    expect(query).not.toHaveBeenCalled();
  });
});
