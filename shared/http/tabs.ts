import { describeError } from "../db/client.ts";
import type { Context } from "../platform/context.ts";
import type { Lease } from "../platform/leases.ts";
import type { Tabs } from "../platform/tabs.ts";
import { countOwed, inFirstMinute, owe, type Window } from "./limits.ts";

/** How long requests are gathered before Redis is told of them, in one round trip for all callers. */
const GATHER_MS = 100;
/** A request that has not settled the tabs after this time was ended by the platform; another takes its place. */
const GIVEN_UP_MS = 10_000;
/** How often one request settles what came meanwhile: then the next one does, since nobody's work may take for ever. */
const ROUNDS = 20;
/** Callers in one round trip, and callers with open tabs at most. */
const [BATCH_SIZE, MOST_CALLERS] = [250, 5000];

/**
 * Puts one read of an address on its tab, to be counted after the answer; says where the address then stands as far as
 * this isolate knows. Null where the request has to be counted first: near the limit or beyond it.
 */
export function putOnTab(tabs: Tabs, lease: Lease, caller: string, now: number): Window | null {
  if (tabs.open.size >= MOST_CALLERS || inFirstMinute(now)) return null;
  const window = owe(lease, "read", now);
  if (window !== null) tabs.open.set(caller, lease);
  return window;
}

/** Whether the request that asks is the one that has to settle the tabs; others need not until it has. */
export function takesSettling(tabs: Tabs, now: number): boolean {
  if (tabs.settlingSince !== null && now - tabs.settlingSince < GIVEN_UP_MS) return false;
  tabs.settlingSince = now;
  return true;
}

/**
 * Counts what is on the tabs a tenth of a second later, together with what others put there meanwhile; and again, while
 * there is more. Never throws: what Redis does not take within its time limit is forgotten, as this limiter fails open.
 */
export async function settle(ctx: Context, tabs: Tabs): Promise<void> {
  for (let round = 0; round < ROUNDS && tabs.open.size > 0; round += 1) await countOnce(ctx, tabs);
  tabs.settlingSince = null;
}

async function countOnce(ctx: Context, tabs: Tabs): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, GATHER_MS);
  });
  const due = [...tabs.open];
  tabs.open.clear();
  for (let from = 0; from < due.length; from += BATCH_SIZE) {
    try {
      await countOwed(ctx, "read", due.slice(from, from + BATCH_SIZE));
    } catch (error) {
      ctx.log.warn("rate limiter unavailable", { detail: describeError(error) });
    }
  }
}
