import { type SQL, sql } from "drizzle-orm";
import { users } from "../../db/schema/index.ts";
import { notFound, type Problem } from "../../platform/problem.ts";

/** The owner columns of a row: the workspace that it belongs to, else the account. */
interface OwnerColumns {
  user_id: SQL;
  team_id: SQL;
}

/** Whom keys act for, an account or a workspace, as one caller sees it. */
export interface KeyHolder {
  /** SQL: what a new key of it says of its holder. */
  owner: OwnerColumns;
  /** SQL: whether the key row `k` is one of its keys. */
  has: SQL<boolean>;
  /** SQL: makes those who create keys of it take turns. */
  lock: SQL;
  /** SQL: a query of one row that says in `allowed` whether the caller may manage its keys; of none where it is not seen. */
  right: SQL;
  refusals: { not_found: () => Problem; forbidden: () => Problem };
}

/** SQL: whether the caller may manage a key with these owner columns. */
export type MayManage = (owner: OwnerColumns) => SQL<boolean>;

/** The keys of the caller's own account. */
export function keysOfAccount(userId: string): KeyHolder {
  return {
    owner: { user_id: sql`${userId}::uuid`, team_id: sql`null::uuid` },
    has: sql`k.user_id = ${userId}::uuid`,
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    right: sql`select true as allowed`,
    refusals: { not_found: () => notFound("account"), forbidden: () => notFound("account") },
  };
}
