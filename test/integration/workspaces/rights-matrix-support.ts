import { type Action, RIGHTS, type Role } from "../../../shared/teams/rights.ts";

/** Whoever may ask: a member by role, a workspace's own key or another workspace's, an account without a role, nobody. */
export type Kind = Role | "key" | "other key" | "stranger" | "anonymous";
export const ROLES = Object.keys(RIGHTS) as Role[];
export const KINDS: readonly Kind[] = [...ROLES, "key", "other key", "stranger", "anonymous"];

/** A workspace and one of each thing that it has: by the names of path parameters, and by path for those named `id`. */
export interface World {
  team: string;
  [parameter: string]: string;
}

/** What is asked of a workspace's things: the right that it needs, and the answer to those who have it. */
export interface Operation {
  needs: Action;
  /** 200 unless it is said. */
  success?: number;
  body?: (world: World) => object;
  query?: (world: World) => string;
  /** Makes anew what a success ends or fills. */
  fresh?: (world: World, kind: Kind) => Promise<Partial<World>>;
}

/** Paths below which things of workspaces stand, and what stands there but is the same for every caller. */
export const THINGS =
  /^\/api\/v1\/(?:agents|runs|screening-sessions|screening-schedules|webhooks|scorecards|teams)\/\{/;
export const SAME_FOR_ALL = ["GET /api/v1/agents/{agent_id}/badge.svg"];

export const nameOf = ({ method, path }: { method: string; path: string }): string => `${method.toUpperCase()} ${path}`;

/** Who sees what is public; members see it anyway. */
const OUTSIDERS: readonly Kind[] = ["other key", "stranger", "anonymous"];
/** Agents, their runs and sessions are what can be public. */
const PUBLIC =
  /\{(?:agent|run|session)_id\}|\/(?:runs|runs\/batch|webhooks|screening-schedules|declared-configurations)$/;

/** Who is to ask of the private world, and of the public one where that differs. */
export function viewsOf(name: string): (readonly ["private" | "public", readonly Kind[]])[] {
  return PUBLIC.test(name)
    ? [
        ["private", KINDS],
        ["public", OUTSIDERS],
      ]
    : [["private", KINDS]];
}

/** Operations that change a thing which their path names. */
export const CHANGE = /^(?:POST|PATCH|DELETE) [^{]+\{/;
/** What no endpoint takes, each with what it answers to those who have the right. */
export const WRONG_BODIES = [
  { body: "x", type: "text/plain", status: 415 },
  { body: "{", type: "application/json", status: 400 },
  { body: '{"no_such_field":1}', type: "application/json", status: 422 },
];
