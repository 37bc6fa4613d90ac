import { type SQL, sql } from "drizzle-orm";
import { UNLIMITED } from "../db/listing.ts";
import { agents } from "../db/schema/index.ts";
import { may, ownerOf, type Viewer } from "../teams/rights.ts";

/** The owner columns of the agent row `a`, for `may`. */
export const agentOwner = { user_id: sql`a.user_id`, team_id: sql`a.team_id` };

/** SQL: a query of all agents `a` of an owner (`ownerOf`), in the order of the index that finds them; by default of all columns. */
export function agentsOf(owner: SQL, columns: SQL = sql`a.*`): SQL {
  return sql`select ${columns} from ${agents} a where ${ownerOf(agentOwner)} = ${owner}
    order by a.is_active, a.created_at desc, a.id desc ${UNLIMITED}`;
}

/** SQL: whether a viewer may see the agent row `a`: it is public and active, or theirs. */
export function visibleAgent(viewer: Viewer): SQL<boolean> {
  return sql`((a.is_public and a.is_active) or ${may("see", viewer, agentOwner)})`;
}

/** SQL: a part of a statement that judges once, for all of its scans, whether a viewer has or shares an agent. */
export function judgeTheirs(viewer: Viewer, agentId: string): SQL {
  return sql`theirs as materialized (select exists (
    select from ${agents} a where a.id = ${agentId}::uuid and ${may("see", viewer, agentOwner)}) as holds)`;
}

/** SQL: what `judgeTheirs` found in the same statement. */
export const THEIRS: SQL<boolean> = sql<boolean>`(select holds from theirs)`;

/** SQL: whether the agent row `a` is of a mode under which the service once kept provider credentials. */
export const retiredMode: SQL<boolean> = sql`a.connection_mode in ('customer_llm', 'provider_assistant')`;

/** SQL: whether the agent row `a` can be called live now. */
export const hasEndpoint = sql<boolean>`(a.connection_mode = 'http_endpoint' and a.endpoint is not null and a.is_active)`;
