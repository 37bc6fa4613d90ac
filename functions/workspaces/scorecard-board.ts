import * as z from "zod";
import { boardQuery } from "../../shared/board/shown.ts";
import { paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ScorecardBoardRow } from "../../shared/scorecards/board-shown.ts";
import { readScorecardBoard } from "../../shared/scorecards/board.ts";

const params = z.object({ id: z.uuid() });

const ScorecardBoard = pageOf(ScorecardBoardRow, "ScorecardBoard")
  .extend({
    total_is_capped: z
      .literal(true)
      .optional()
      .meta({ description: "The board has more rows than `total`; those behind its first ones have no place here" }),
  })
  .meta({ id: "ScorecardBoard" });

export const scorecardBoard = [
  route({
    id: "readScorecardBoard",
    method: "get",
    path: "/api/v1/scorecards/{id}/board",
    tag: "Scorecards",
    summary: "The public board, ranked by a scorecard",
    description:
      "The rows of the public board with `scorecard_score`, 100 × the weighted sum of the axes; an axis without evidence " +
      "counts 0 and is named in `missing_axes`. Ranked agents come before provisional and those before simulated ones, as " +
      "on the public board; each kind is ordered by `scorecard_score`, then by `runs`, then by id, and `rank` is the place " +
      "in this order. Only the caller's view: no stored or public score changes. A board of more than 5,000 rows is " +
      "ranked anew over its first 5,000; `total` is that then, with `total_is_capped`.",
    auth: "scoped",
    subject: "scorecards",
    params,
    query: pageQuery.extend(boardQuery.shape),
    returns: { 200: ScorecardBoard },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id }, query }) {
      return ok(paged(await readScorecardBoard(ctx, principal, id, query), query));
    },
  }),
];
