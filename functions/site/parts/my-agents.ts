import * as z from "zod";
import { AgentRead } from "../../../shared/agents/shown.ts";
import { TeamRead } from "../../../shared/teams/shown.ts";
import type { Api } from "./api.ts";

const Agents = z.object({ items: z.array(AgentRead) });
const Teams = z.object({ items: z.array(TeamRead.pick({ id: true, name: true })) });
/** Workspaces whose agents are offered: more than the plans give away in numbers. */
const MOST_TEAMS = 10;

/** An agent that the visitor may choose. */
interface Choice {
  id: string;
  label: string;
}

/** The visitor's active agents, up to 100, and as many of each workspace, by names that tell them apart. */
export async function myAgents(api: Api): Promise<Choice[]> {
  const [own, teams] = await Promise.all([
    api.read("/api/v1/agents?scope=personal&page_size=100", Agents),
    api.read(`/api/v1/teams?page_size=${MOST_TEAMS}`, Teams),
  ]);
  const shared = await Promise.all(
    teams.items.map(async ({ id, name }) => {
      const { items } = await api.read(`/api/v1/agents?team_id=${id}&page_size=100`, Agents);
      return items.map((agent) => ({ id: agent.id, label: `${agent.name} (${name})` }));
    }),
  );
  return [...own.items.map(({ id, name }) => ({ id, label: name })), ...shared.flat()];
}
