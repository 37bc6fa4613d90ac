import { sql } from "drizzle-orm";
import type * as z from "zod";
import { utcText } from "../db/instant.ts";
import { pageJson, shortParts } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { epochs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { EpochRead } from "./shown.ts";

const Epochs = pageResult(EpochRead);

/** A page of the open epochs whose commitments are in the log, newest first: those of the next days come before today's. */
export async function listEpochs(
  ctx: Context,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Epochs>> {
  const order = sql`e.starts_at desc, e.name desc`;
  const hits = sql`select e.* from ${epochs} e where e.kind = 'open' and e.log_index is not null`;
  const item = sql`json_build_object('epoch', e.name, 'commitment', e.commitment,
    'committed_at', ${utcText(sql`e.committed_at`)}, 'log_index', e.log_index,
    'revealed_at', ${utcText(sql`e.revealed_at`)}, 'secret', e.secret)`;
  const items = sql`(select json_agg(${item} order by ${order}) from paged e)`;
  const found = await readPage(ctx, Epochs, paging, (stretch) => {
    const parts = shortParts(hits, "e", order, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return found ?? { items: [], total: 0 };
}
