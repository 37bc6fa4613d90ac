import * as z from "zod";
import { nameSearch, pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { LeaderboardRow, wholeBoardQuery } from "../../shared/board/shown.ts";
import { findOnBoard } from "../../shared/board/search.ts";

const Leaderboard = pageOf(LeaderboardRow, "Leaderboard")
  .extend({
    total_is_capped: z
      .literal(true)
      .optional()
      .meta({ description: "With `q`: more agents than `total` are called so" }),
  })
  .meta({ id: "Leaderboard" });

export const board = [
  route({
    id: "readLeaderboard",
    method: "get",
    path: "/api/v1/leaderboard",
    tag: "Board",
    summary: "The public board",
    description:
      "Agents whose counted runs cover every active task of the suite `core` are ranked on those tasks alone. They " +
      "are followed by provisional agents and then by agents with simulated runs only, neither of which have a rank. `domain` ranks on the core " +
      "tasks of one domain; `period` looks at the runs of the last 30 or 7 days: an older one is left out from the night (UTC) " +
      "after on. Costs are reported by the agents themselves, and held against a floor alone: `evidence_cost_floor_applied` " +
      "says where one was below it. An owner can " +
      "show the best of several agents: `variants` counts those that it declares in public, and none that it keeps to itself. " +
      "It can have only those tasks asked again that went badly: `uneven` says so, and `asked_runs` how many runs there were in " +
      "all, of which `runs` are scored. " +
      "`rank_low` to `rank_high` are the places that an agent's interval does not rule out on the same board. `q` looks for " +
      "agents by name, and `certified_only` shows those whose certification is in force; their ranks are those on the whole " +
      "board.",
    auth: "open",
    query: pageQuery.extend(wholeBoardQuery.shape).extend({ q: nameSearch }),
    returns: { 200: Leaderboard },
    cache: "board",
    async handler({ ctx, query }) {
      return ok(paged(await findOnBoard(ctx, query), query));
    },
  }),
];
