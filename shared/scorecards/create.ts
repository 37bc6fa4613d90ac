import { sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOf, lockAccounts } from "../agents/account.ts";
import { scorecards } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import type { ScorecardCreate } from "./schemas.ts";
import { notEditor, refuseTakenName, scorecardJson, type ScorecardRow } from "./view.ts";
import { normalised } from "./weights.ts";

/** Scorecards that an account, and each workspace, can have. */
export const MAX_SCORECARDS = 50;

interface Outcome {
  outcome: "created" | "no_team" | "forbidden" | "quota";
  used: number;
  scorecard: ScorecardRow | null;
}

/**
 * Makes a scorecard of the caller, or of a workspace that the caller may edit. Throws `duplicate_name`, `quota_exceeded`
 * at MAX_SCORECARDS, and 404 or 403 for a workspace.
 */
export async function createScorecard(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof ScorecardCreate>,
): Promise<ScorecardRow> {
  const viewer = principal.userId;
  const owner = { user_id: sql`${viewer}::uuid`, team_id: sql`${input.team_id ?? null}::uuid` };
  const weights = normalised(input.weights);
  const ctes = sql`with scope as (
    select ${may("see", viewer, owner)} as seen, ${may("edit", viewer, owner)} as allowed,
      (select count(*) from ${scorecards} s
        where coalesce(s.team_id, s.user_id) = coalesce(${owner.team_id}, ${owner.user_id}))::integer as used
  ), checked as (
    select used, case when not seen then 'no_team' when not allowed then 'forbidden'
      when used >= ${MAX_SCORECARDS} then 'quota' else 'created' end as outcome from scope
  ), s as (
    insert into ${scorecards} (user_id, team_id, name, correctness, latency, cost, tool_efficiency, robustness)
    select ${owner.user_id}, ${owner.team_id}, ${input.name}, ${weights.correctness}::float8, ${weights.latency}::float8,
      ${weights.cost}::float8, ${weights.tool_efficiency}::float8, ${weights.robustness}::float8
    from checked where outcome = 'created' returning *
  )`;
  const result = sql`select jsonb_build_object('outcome', c.outcome, 'used', c.used,
    'scorecard', (select ${scorecardJson} from s)) as result from checked c`;
  const lock = lockAccounts(sql`select ${accountOf(owner)}`);
  const { outcome, used, scorecard } = await writeJson<Outcome>(ctx, ctes, result, lock).catch(refuseTakenName);
  switch (outcome) {
    case "no_team":
      throw notFound("workspace");
    case "forbidden":
      throw notEditor();
    case "quota":
      throw new Problem("quota_exceeded", `An owner can have ${MAX_SCORECARDS} scorecards. Delete one first.`, {
        members: { limit: MAX_SCORECARDS, used, resets_at: null },
      });
    case "created":
      return scorecard as ScorecardRow;
  }
}
