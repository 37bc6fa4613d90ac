import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { teams } from "./schema/index.ts";

/** An account that is being deleted, as each domain's closing sees it. */
export interface ClosedAccount {
  id: string;
  now: Date;
  /** SQL: whether the row `a` (`user_id`, `team_id`) is the account's, or of a workspace that the account owns. */
  owns: SQL<boolean>;
}

/** What a domain contributes to the deletion of an account. */
export interface Closing {
  /**
   * Parts of the one statement that closes the account, by their names, which are unique among all domains. The part `u`
   * is the account (`id`), and has no row where the account is not to be closed: every part joins it. All parts see the
   * data as they were before the statement.
   */
  parts?: Readonly<Record<string, SQL>>;
  /** Which of the parts owe the queue a message. */
  owes?: readonly string[];
  /** Then, before anything is deleted: what is to end of rows that may be too many for the one statement. */
  ending?: readonly Chunk[];
  /** Afterwards: what is deleted or made anonymous. */
  chunks?: readonly Chunk[];
  /** Finally, in one batch for all domains: statements for the few rows that remain once no chunk is left. */
  rest?: readonly SQL[];
}

/** Where a chunk goes on: behind the row with this key. */
export const Place = z.array(z.string());
export type Place = z.output<typeof Place>;

/**
 * A statement that goes through the rows behind a place, from the first one on where it is null, and deletes or anonymises
 * at most CHUNK of them: a `with` clause that begins with one of `closing-chunks.ts`, and whose part `done` has a row for
 * each row that it processed. It is sent from place to place until there is no next one: so each costs what it goes through,
 * and neither what was there before nor what stays behind.
 */
export type Chunk = (place: Place | null) => SQL;

/** A domain's closing. The domain alone knows which of its tables hold a person's data, and what is kept without a name. */
export type CloseDomain = (account: ClosedAccount) => Closing;

/** Rows that one statement of a chunk processes. Of what hangs on them, what may be much has gone before. */
export const CHUNK = 500;

/**
 * SQL: whether the row `a` (`user_id`, `team_id`) is the account's, or of a workspace that the account owns: as indexes on
 * owners have it, so that such rows are found without the others.
 */
export function belongsTo(userId: string | SQL): SQL<boolean> {
  return sql`coalesce(a.team_id, a.user_id) = any (array(${ownersIn(userId)}))`;
}

/**
 * SQL: the rows that `scan` finds for each owner, the account and the workspaces that it owns: those for which `belongsTo`
 * holds. Each owner's part is found by an index however many rows there are, where `scan` orders and limits.
 */
export function ofAccount(userId: string | SQL, scan: (owner: SQL) => SQL): SQL {
  return sql`select x.* from (${ownersIn(userId)}) o cross join lateral (${scan(sql`o.id`)}) x`;
}

/** SQL: a query of the account's id and those of the workspaces that it owns. */
export function ownersIn(userId: string | SQL): SQL {
  return sql`select ${userId}::uuid as id union all select t.id from ${teams} t where t.owner_id = ${userId}::uuid`;
}
