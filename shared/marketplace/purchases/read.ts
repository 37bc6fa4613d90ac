import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { purchases } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { PurchaseRead } from "../shown.ts";
import { purchaseJson } from "./view.ts";

/** One of the caller's own purchases; throws 404. */
export async function readPurchase(
  ctx: Context,
  principal: SessionPrincipal,
  purchaseId: string,
): Promise<z.output<typeof PurchaseRead>> {
  const purchase = await read(
    ctx,
    PurchaseRead,
    sql`select ${purchaseJson} as result from ${purchases} p
      where p.id = ${purchaseId}::uuid and p.buyer_id = ${principal.userId}::uuid`,
  );
  if (purchase === null) throw notFound("purchase");
  return purchase;
}
