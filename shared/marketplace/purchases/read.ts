import { sql } from "drizzle-orm";
import { purchases } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { purchaseJson, type PurchaseRow } from "./view.ts";

/** One of the caller's own purchases; throws 404. */
export async function readPurchase(
  ctx: Context,
  principal: SessionPrincipal,
  purchaseId: string,
): Promise<PurchaseRow> {
  const row = await readJson<PurchaseRow>(
    ctx,
    sql`select ${purchaseJson} as result from ${purchases} p
      where p.id = ${purchaseId}::uuid and p.buyer_id = ${principal.userId}::uuid`,
  );
  if (row === null) throw notFound("purchase");
  return row;
}
