import { sql } from "drizzle-orm";
import * as z from "zod";
import { accountOf, lockAccounts } from "../agents/account.ts";
import { change, telling, verdict } from "../db/change.ts";
import { scorecards } from "../db/schema/index.ts";
import { actorId, type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, type Problem, quotaExceeded } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import type { ScorecardCreate } from "./schemas.ts";
import { type Scorecard, ScorecardRead } from "./shown.ts";
import { notEditor, refuseTakenName, scorecardJson } from "./view.ts";
import { normalised } from "./weights.ts";

/** Scorecards that an account, and each workspace, can have. */
const MAX_SCORECARDS = 50;

const CREATION = verdict({ forbidden: sql`not t.allowed`, quota: sql`t.used >= ${MAX_SCORECARDS}` });

/**
 * Makes a scorecard of the caller, or of a workspace that the caller may edit. Throws `duplicate_name`, `quota_exceeded`
 * at MAX_SCORECARDS, and 404 or 403 for a workspace.
 */
export async function createScorecard(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof ScorecardCreate>,
): Promise<Scorecard> {
  const { userId } = principal;
  const teamId = input.team_id ?? workspaceOf(principal);
  const owner = { user_id: sql`${userId}::uuid`, team_id: sql`${teamId}::uuid` };
  const weights = normalised(input.weights);
  const { scorecard } = await change(ctx, {
    lock: lockAccounts(sql`select ${accountOf(owner)}`),
    parts: sql`with target as (
      select t.used, ${CREATION.sql} as outcome from (
        select ${may("edit", userId, owner)} as allowed, (select count(*) from ${scorecards} s
          where coalesce(s.team_id, s.user_id) = coalesce(${owner.team_id}, ${owner.user_id}))::integer as used
        where ${may("see", userId, owner)}
      ) t
    ), s as (
      insert into ${scorecards} (user_id, team_id, name, correctness, latency, cost, tool_efficiency, robustness)
      select ${actorId(principal)}::uuid, ${owner.team_id}, ${input.name}, ${weights.correctness}::float8,
        ${weights.latency}::float8, ${weights.cost}::float8, ${weights.tool_efficiency}::float8,
        ${weights.robustness}::float8
      from target t where t.outcome = 'done' returning *
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'used', t.used,
      'scorecard', (select ${scorecardJson} from s)) as result from target t`,
    verdict: CREATION,
    done: z.object({ scorecard: ScorecardRead }),
    refusals: {
      not_found: () => notFound("workspace"),
      forbidden: notEditor,
      quota: telling(z.object({ used: z.int() }), ({ used }) => tooMany(used)),
    },
  }).catch(refuseTakenName);
  return scorecard;
}

function tooMany(used: number): Problem {
  return quotaExceeded(`An owner can have ${MAX_SCORECARDS} scorecards. Delete one first.`, {
    limit: MAX_SCORECARDS,
    used,
  });
}
