import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { COUNTED, type Listing, pageJson, pageParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { SUBMISSION_STATES, task_submissions } from "../../db/schema/index.ts";
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
  const [first, ...others] = status === undefined ? SUBMISSION_STATES : ([status] as const);
  const scan = (one: string, cut: SQL) => sql`select id, cardinality(flags) > 0 as flagged from ${task_submissions}
    where status = ${one} ${cut}`;
  return readSubmissions(ctx, paging, {
    order: sql`flagged desc, id desc`,
    // The index has an expression, for which PostgreSQL reads the rows themselves.
    most: COUNTED.byRow,
    scans: (cut) => [scan(first, cut), ...others.map((one) => scan(one, cut))],
  });
}

/** A page of the caller's own submissions, the newest first. */
export function listOwnSubmissions(ctx: Context, principal: SessionPrincipal, paging: Paging): Promise<Page> {
  return readSubmissions(ctx, paging, {
    order: sql`id desc`,
    most: COUNTED.byIndex,
    scans: (cut) => [sql`select id from ${task_submissions} where submitter_id = ${principal.userId}::uuid ${cut}`],
  });
}

async function readSubmissions(ctx: Context, paging: Paging, listing: Listing): Promise<Page> {
  const { order } = listing;
  const items = sql`(select json_agg(${submissionJson} order by ${order})
    from paged join ${task_submissions} s using (id))`;
  const found = await readPage(
    ctx,
    Submissions,
    paging,
    (stretch) => sql`with ${pageParts(listing, stretch)} select ${pageJson(items)} as result`,
  );
  return found ?? { items: [], total: 0 };
}
