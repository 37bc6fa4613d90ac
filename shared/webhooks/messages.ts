import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { DRAWN, oweAnew, oweUnlessOwed } from "../db/owed.ts";

/** The consumer that makes the attempts of one subscription that are due. */
export const DELIVERER = "deliver-due";

/** Its message: what is due of the subscription at `due`, and what has become due since. */
export const DueMessage = z.strictObject({ webhook_id: z.uuid(), due: z.iso.datetime({ offset: true }) });

/** SQL: the body and the flow key of the message about a row of `webhook_id` and `due`. */
const MESSAGE: SQL = sql`jsonb_build_object('webhook_id', webhook_id, 'due', due) as body,
  'due.' || webhook_id as flow_key`;

/**
 * SQL: the part `name`, and one that it stands on, which owe the queue one message for each subscription of `source`, a
 * query of `webhook_id` and `due`, a time that has come. Where one is owed already, whoever takes that one makes these
 * attempts, too. The rows of `name` belong into `hands`.
 */
export function wake(name: string, source: SQL): SQL {
  return oweUnlessOwed(
    name,
    DELIVERER,
    sql`select webhook_id as id, ${DRAWN} as generation, ${MESSAGE}
      from (select webhook_id, max(due) as due from (${source}) a group by webhook_id) due`,
  );
}

/**
 * SQL: owes the queue a message for each subscription and second of `source`, a query of `webhook_id` and `due`, a time to
 * come. The second makes the message's id, so that the queue takes those of many attempts for one. Its rows are what `owed`
 * collects.
 */
export function oweLater(source: SQL): SQL {
  return oweAnew(
    DELIVERER,
    sql`select md5(webhook_id || '.' || second)::uuid as id, second::integer as generation, ${MESSAGE}, due as not_before
      from (select webhook_id, second, to_timestamp(second) as due from (
        select distinct webhook_id, ceil(extract(epoch from due)) as second from (${source}) a) seconds) due`,
  );
}

/** SQL: owes the queue the message `id` for the row of `source`, a query of `webhook_id` and `due`, if it has one: at once. */
export function oweMore(id: SQL, source: SQL): SQL {
  return oweAnew(
    DELIVERER,
    sql`select ${id} as id, ${DRAWN} as generation, ${MESSAGE}, null::timestamptz as not_before
      from (${source}) due`,
  );
}
