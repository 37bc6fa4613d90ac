import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { utcText } from "../db/instant.ts";
import { pageResult } from "../db/page-result.ts";
import { epochs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { EpochRead } from "./shown.ts";

const Epochs = pageResult(EpochRead);

/** A page of the open epochs whose commitments are in the log, newest first: those of the next days come before today's. */
export async function listEpochs(
  ctx: Context,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof Epochs>> {
  const found = await read(
    ctx,
    Epochs,
    sql`with hits as (select e.* from ${epochs} e where e.kind = 'open' and e.log_index is not null)
    select jsonb_build_object('total', (select count(*) from hits), 'items', coalesce((
      select jsonb_agg(jsonb_build_object('epoch', e.name, 'commitment', e.commitment,
        'committed_at', ${utcText(sql`e.committed_at`)}, 'log_index', e.log_index,
        'revealed_at', ${utcText(sql`e.revealed_at`)}, 'secret', e.secret) order by e.starts_at desc, e.name desc)
      from (select * from hits order by starts_at desc, name desc limit ${size} offset ${(page - 1) * size}) e
    ), '[]')) as result`,
  );
  return found ?? { items: [], total: 0 };
}
