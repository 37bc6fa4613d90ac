import * as z from "zod";
import { AgentRead } from "../../../shared/agents/shown.ts";
import { TeamRead } from "../../../shared/teams/shown.ts";
import type { Api } from "./api.ts";

/** How many agents are offered at once, and the longest text that they are looked for by. */
const OFFERED = 100;
const LONGEST = 100;
const Agents = z.object({ items: z.array(AgentRead), total: z.number() });
const Teams = z.object({ items: z.array(TeamRead.pick({ id: true, name: true })) });

/** The field to look for agents by name, its button, what Enter sends, and by what those were found that the form offers. */
export const FINDING = { text: "find", button: "look", enter: "enter", found: "found" } as const;

/** The agents that a form offers. */
export interface Choices {
  agents: readonly { id: string; label: string; variant_of: string | null }[];
  /** What they have in their names; empty where these are the newest of all. */
  q: string;
  /** Whether there are more than these. */
  more: boolean;
  /** Whether they were looked for just now. */
  looked: boolean;
}

/** Whether a form was sent to look for an agent, and for nothing else: by its button, or by Enter after another text. */
export function looksForAgent(form: URLSearchParams | undefined): boolean {
  if (form === undefined) return false;
  return form.has(FINDING.button) || (form.has(FINDING.enter) && lookedFor(form, "text") !== lookedFor(form, "found"));
}

/** The text of a form to look for agents by, as it stands in the field, or as it was looked for before. */
const lookedFor = (form: URLSearchParams | undefined, as: "text" | "found"): string =>
  (form?.get(FINDING[as]) ?? "").trim().slice(0, LONGEST).trim();

/** Those among which a form may choose, by parameters of the list of agents; all without. */
export type Owner = "scope=personal" | `team_id=${string}` | "";

/**
 * The agents that a form offers: the visitor's active ones and those of the workspaces, by names that tell them apart, or
 * those of one owner. In a form that is shown again, they are those that it offered, or that it looks for.
 */
export async function myAgents(api: Api, typed?: URLSearchParams, owner: Owner = ""): Promise<Choices> {
  const looked = looksForAgent(typed);
  const q = lookedFor(typed, looked ? "text" : "found");
  const query = [owner, q === "" ? "" : new URLSearchParams({ q }).toString()].filter((part) => part !== "");
  const [{ items, total }, teams] = await Promise.all([
    api.read(`/api/v1/agents?${[...query, `page_size=${OFFERED}`].join("&")}`, Agents),
    owner === "" ? api.read("/api/v1/teams?page_size=100", Teams) : { items: [] },
  ]);
  const names = new Map(teams.items.map(({ id, name }) => [id, name]));
  const placed = items.map(({ id, name, team_id, variant_of }) => {
    const team = team_id == null || owner !== "" ? "" : (names.get(team_id) ?? "a workspace");
    return { id, label: team === "" ? name : `${name} (${team})`, team, variant_of };
  });
  // One's own come first, and those of a workspace stand together.
  const agents = placed.toSorted((a, b) => (a.team < b.team ? -1 : a.team > b.team ? 1 : 0));
  return { agents, q, more: total > items.length, looked };
}
