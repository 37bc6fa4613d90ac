import type * as z from "zod";
import { databaseFailure } from "../db/client.ts";
import { unlessKept } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { beyondPlan, planExceeded } from "../teams/limits.ts";
import { checkInput, insertAgents, type NewAgent, type Refused } from "./insert.ts";
import type { AgentCreate } from "./schemas.ts";
import { AgentRow, agentJson } from "./view.ts";

/**
 * Makes an agent for the caller or one of the caller's workspaces. Throws
 * `endpoint_not_allowed`, `duplicate_name`, `quota_exceeded`, `invalid_variant`, `provider_custody_retired`, and 404 or
 * 403 for a workspace.
 */
export async function createAgent(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof AgentCreate>,
): Promise<AgentRow> {
  return placeAgent(ctx, principal, () => checkInput(ctx, input));
}

/** Makes an agent of what `check` gives, which throws where it may not be made; throws what `createAgent` throws besides. */
export async function placeAgent(
  ctx: Context,
  principal: UserPrincipal,
  check: () => Promise<NewAgent>,
): Promise<AgentRow> {
  const row = (await unlessKept(ctx, check)) ?? { errors: [] };
  const [placed] = await insertAgents(ctx, principal, [row], agentJson(principal.userId));
  if (placed === undefined || placed.outcome === "invalid")
    throw new Error("an agent without errors came out as invalid");
  if (placed.outcome !== "created") throw refusal(placed);
  return AgentRow.parse(placed.agent);
}

const REFUSALS: Readonly<Record<Refused["outcome"], (refused: Refused) => Problem>> = {
  no_team: () => notFound("workspace"),
  forbidden: () => new Problem("forbidden", "Your role in this workspace does not allow creating agents."),
  bad_root: badRoot,
  duplicate: () => duplicateName(true),
  quota: ({ limit, used }) => agentQuota(limit, used),
};

/** The problem that tells why an agent was not made. */
export function refusal(refused: Refused): Problem {
  return REFUSALS[refused.outcome](refused);
}

/** The 409 for a name that another active agent of the owner has, in any case; `given` says whether the body gives it. */
export function duplicateName(given: boolean): Problem {
  const detail = "Another active agent of this owner has the name; choose another.";
  return given ? bodyProblem("duplicate_name", "/name", detail) : new Problem("duplicate_name", detail);
}

/** Throws `duplicate_name` where the database refused a change because the name is taken, else the error itself. */
export function refuseTakenName(error: unknown, given: boolean): never {
  throw databaseFailure(error)?.constraint === "agents_name_key" ? duplicateName(given) : error;
}

/** The 402 for an owner whose plan allows no further active agent, or does not include the workspace. */
export function agentQuota(limit: number | null, used: number): Problem {
  if (limit === 0) return beyondPlan(used);
  return planExceeded("agents", { limit: limit ?? 0, used }, `The plan allows ${limit} active agents.`, "Delete one");
}

/** The 422 for a `variant_of` that can't be the root of a variant group. */
export function badRoot(): Problem {
  return bodyProblem(
    "invalid_variant",
    "/variant_of",
    "Name an active agent of the same owner that is itself no variant.",
  );
}
