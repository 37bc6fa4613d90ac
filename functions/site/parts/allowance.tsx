import type { Child } from "hono/jsx";
import { UserRead } from "../../../shared/identity/shown.ts";
import { TeamRead } from "../../../shared/teams/shown.ts";
import { PLAN } from "./paths.ts";
import type { Visit } from "./view.ts";

/** What is left of a month's runs, and whose they are. */
export interface Allowance {
  left: number;
  limit: number;
  /** The workspace that pays; null where the visitor does. */
  workspace: string | null;
}

/** The allowance that the runs of an agent are taken from: that of its workspace, else its owner's. */
export async function allowanceOf(api: Visit["api"], teamId: string | null | undefined): Promise<Allowance> {
  const team = teamId == null ? null : await api.read(`/api/v1/teams/${teamId}`, TeamRead);
  const { monthly_run_count: used, monthly_run_limit: limit } = team ?? (await api.read("/api/v1/auth/me", UserRead));
  return { left: Math.max(0, limit - used), limit, workspace: team?.name ?? null };
}

/** How many runs are left, and of whose; with the way to more where these are `few` and the visitor's own. */
export function Left({ of: { left, limit, workspace }, few }: { of: Allowance; few: boolean }): Child {
  return (
    <>
      {workspace === null ? "You have" : ["The workspace ", <bdi>{workspace}</bdi>, " pays for it, and has"]}{" "}
      <strong>{left}</strong> of {limit} runs left this month.
      {workspace === null && few && (
        <>
          {" "}
          <a href={PLAN}>What each plan allows</a>
        </>
      )}
    </>
  );
}
