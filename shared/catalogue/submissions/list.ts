import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { pageResult } from "../../db/page-result.ts";
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
  return readPage(ctx, condition, sql`(cardinality(flags) > 0) desc, id desc`, paging);
}

/** A page of the caller's own submissions, the newest first. */
export function listOwnSubmissions(ctx: Context, principal: SessionPrincipal, paging: Paging): Promise<Page> {
  return readPage(ctx, sql`submitter_id = ${principal.userId}::uuid`, sql`id desc`, paging);
}

async function readPage(ctx: Context, condition: SQL, order: SQL, { page, page_size: size }: Paging): Promise<Page> {
  const found = await read(
    ctx,
    Submissions,
    sql`with hits as (
      select *, row_number() over (order by ${order}) as place from ${task_submissions} where ${condition}
      order by ${order} limit ${size} offset ${(page - 1) * size}
    )
    select jsonb_build_object('total', (select count(*) from ${task_submissions} where ${condition}),
      'items', (select coalesce(jsonb_agg(${submissionJson} order by s.place), '[]') from hits s)) as result`,
  );
  return found ?? { items: [], total: 0 };
}
