import type * as z from "zod";
import { databaseFailure } from "../db/client.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { insertAgents, judgeInput, type NewAgent, type Refused } from "./insert.ts";
import type { AgentCreate } from "./schemas.ts";
import { type AgentRow, agentJson } from "./view.ts";

/**
 * Makes an agent for the caller or one of the caller's workspaces, with what else is known of it. Throws
 * `endpoint_not_allowed`, `duplicate_name`, `quota_exceeded`, `invalid_variant`, `provider_custody_retired`, and 404 or
 * 403 for a workspace.
 */
export async function createAgent(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof AgentCreate>,
  known: Pick<NewAgent, "registry_status"> = {},
): Promise<AgentRow> {
  const row = { ...(await judgeInput(ctx, input)), ...known };
  const [placed] = await insertAgents<AgentRow>(ctx, principal, [row], agentJson(principal.userId));
  if (placed?.outcome === "created") return placed.agent;
  throw refusal(placed as Refused);
}

/** The problem that stands for an agent which was not made. */
export function refusal({ outcome, limit, used }: Refused): Problem {
  switch (outcome) {
    case "no_team":
      return notFound("workspace");
    case "forbidden":
      return new Problem("forbidden", "Your role in this workspace does not allow creating agents.");
    case "bad_root":
      return badRoot();
    case "duplicate":
      return duplicateName();
    case "quota":
      return agentQuota(limit, used);
  }
}

/** The 409 for a name that another active agent of the owner has, in any case. */
export function duplicateName(): Problem {
  return new Problem("duplicate_name", "Another active agent of this owner has the name; choose another.");
}

/** Throws `duplicate_name` for a change that the database refused as it would take a name, else the error itself. */
export function refuseTakenName(error: unknown): never {
  throw databaseFailure(error)?.constraint === "agents_name_key" ? duplicateName() : error;
}

/** The 402 for an owner whose plan allows no further active agent. */
export function agentQuota(limit: number | null, used: number | null): Problem {
  return new Problem("quota_exceeded", `The plan allows ${limit} active agents. Delete one or upgrade.`, {
    members: { limit, used, resets_at: null },
  });
}

/** The 422 for a `variant_of` that can't be the root of a variant group. */
export function badRoot(): Problem {
  return bodyProblem(
    "invalid_variant",
    "/variant_of",
    "Name an active agent of the same owner that is itself no variant.",
  );
}
