import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../db/change.ts";
import { agents, team_invitations, team_members, teams } from "../db/schema/index.ts";
import { forgetKey } from "../identity/api-keys/api-key.ts";
import { removeKeysOfTeams } from "../identity/parts/team-keys.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, teamFor } from "./view.ts";

/**
 * SQL: a part of a statement that deletes what a domain has stored for the workspaces in `teamIds`, a query of ids, or one
 * whose rows are messages that have the queue end it.
 */
export type TeamCleanup = (teamIds: SQL) => SQL | { owes: SQL };

const REMOVAL = verdict({
  forbidden: sql`not t.allowed`,
  not_empty: sql`exists (select from ${agents} a where a.team_id = t.id and a.is_active)`,
});

/**
 * Deletes a workspace without active agents, its members, its invitations, its API keys and whatever `cleanups` delete. A nameless row
 * that nobody can see stays for the runs that were recorded for it. Throws 404, `forbidden`, `workspace_not_empty`.
 */
export async function removeTeam(
  ctx: Context,
  { userId }: SessionPrincipal,
  teamId: string,
  cleanups: readonly TeamCleanup[],
): Promise<void> {
  const removed = sql`select r.id from removed r`;
  const owes: string[] = [];
  const parts = cleanups.map((cleanup, index) => {
    const [name, part] = [`cleanup_${index}`, cleanup(removed)];
    if ("owes" in part) owes.push(name);
    return sql`, ${sql.identifier(name)} as (${"owes" in part ? part.owes : part})`;
  });
  const [owed, ...more] = owes;
  const { keys } = await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.id, ${REMOVAL.sql} as outcome from (${teamFor("own", userId, teamId)}) t
    ), removed as (
      update ${teams} t set name = 'Deleted workspace' from target g where t.id = g.id and g.outcome = 'done' returning t.id
    ), members as (
      delete from ${team_members} m where m.team_id in (${removed})
    ), invitations as (
      delete from ${team_invitations} i where i.team_id in (${removed})
    ), keys as (${removeKeysOfTeams(removed)})${sql.join(parts)}`,
    ...(owed === undefined ? {} : { owes: [owed, ...more] as const }),
    result: sql`select jsonb_build_object('outcome', g.outcome,
      'keys', (select coalesce(jsonb_agg(key_hash), '[]') from keys)) as result from target g`,
    verdict: REMOVAL,
    done: z.object({ keys: z.array(z.string()) }),
    refusals: {
      not_found: noTeam,
      forbidden: () => notAllowed("deleting it"),
      not_empty: () =>
        new Problem("workspace_not_empty", "Delete its active agents first, or move them to another workspace."),
    },
  });
  await Promise.all(keys.map((hash) => forgetKey(ctx, hash)));
}
