import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { task_submissions } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { type SubmissionStatus, TaskSubmissionRead } from "./schemas.ts";
import { submissionJson } from "./view.ts";

interface Paging {
  page: number;
  page_size: number;
}

const Submissions = pageResult(TaskSubmissionRead);
type Page = z.output<typeof Submissions>;

/** A page of the moderation queue: flagged submissions first, then the newest; of every status unless one is given. */
export function listSubmissions(
  ctx: Context,
  { status, ...paging }: Paging & { status?: z.output<typeof SubmissionStatus> | undefined },
): Promise<Page> {
  const condition = status === undefined ? sql`true` : sql`status = ${status}`;
  return readSubmissions(ctx, condition, sql`(cardinality(flags) > 0) desc, id desc`, paging);
}

/** A page of the caller's own submissions, the newest first. */
export function listOwnSubmissions(ctx: Context, principal: SessionPrincipal, paging: Paging): Promise<Page> {
  return readSubmissions(ctx, sql`submitter_id = ${principal.userId}::uuid`, sql`id desc`, paging);
}

async function readSubmissions(ctx: Context, condition: SQL, order: SQL, paging: Paging): Promise<Page> {
  const items = sql`(select json_agg(${submissionJson} order by ${order}) from paged s)`;
  const found = await readPage(
    ctx,
    Submissions,
    paging,
    ({ offset, size }) => sql`with counted as (
      select count(*) as n, null::bigint as most from ${task_submissions} where ${condition}
    ), paged as (
      select * from ${task_submissions} where ${condition} order by ${order} limit ${size} offset ${offset}
    )
    select ${pageJson(items)} as result`,
  );
  return found ?? { items: [], total: 0 };
}
