import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { readAccount } from "../../shared/identity/account.ts";
import { workspaceOf } from "../../shared/identity/principal.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { Problem } from "../../shared/platform/problem.ts";

/** Apart from all other ways to deal with an account: nearly every page and client begins with it. */
export const me = [
  route({
    id: "readMe",
    method: "get",
    path: "/api/v1/auth/me",
    tag: "Accounts",
    summary: "The caller's account",
    description: "403 for a workspace's key, which speaks for nobody.",
    auth: "read",
    returns: { 200: UserRead },
    problems: ["forbidden"],
    async handler({ ctx, principal }) {
      const team = workspaceOf(principal);
      if (team !== null)
        throw new Problem("forbidden", `This key is a workspace's, not a person's: read GET /api/v1/teams/${team}.`);
      return ok(await readAccount(ctx, principal.userId));
    },
  }),
];
