import * as z from "zod";
import { conditional } from "../../shared/http/answer.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { streamed } from "../../shared/http/stream.ts";
import { historyQuery, readDayBoard, readHistory } from "../../shared/board/history.ts";
import { AgentHistory } from "../../shared/board/history-shown.ts";

export const history = [
  route({
    id: "readAgentHistory",
    method: "get",
    path: "/api/v1/agents/{agent_id}/history",
    tag: "Agents",
    summary: "An agent's score day by day",
    description:
      "On the board of all domains and all time. Today is as of now; each earlier day is as the daily work found it, " +
      "shortly after 03:17 UTC.",
    auth: "open",
    subject: "agents",
    params: z.object({ agent_id: z.uuid() }),
    query: historyQuery,
    returns: { 200: AgentHistory },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id }, query }) {
      return ok(await readHistory(ctx, principal, agent_id, query));
    },
  }),
  route({
    id: "readLeaderboardOfDay",
    method: "get",
    path: "/api/v1/leaderboard/history/{day}",
    tag: "Board",
    summary: "The ranked board of a day, as the log has its digest",
    description:
      "`{day, items: [{agent_id, composite_score, rank, runs, score_high, score_low, tasks}]}` of all ranked agents, as " +
      "the daily work found them, as RFC 8785 JSON. SHA-256 over these bytes is in the log: " +
      '`{"day":"…","kind":"board","sha256":"…"}`. It never changes.',
    auth: "open",
    params: z.object({ day: z.iso.date().meta({ examples: ["2026-11-22"] }) }),
    returns: { 200: { type: "application/json", description: "The board, as it is read from the database" } },
    problems: ["not_found"],
    async handler({ ctx, params: { day }, c }) {
      const { sha256, pieces } = await readDayBoard(ctx, day);
      const etag = `W/"${sha256}"`;
      const headers = {
        "Content-Type": "application/json",
        "Cache-Control": "public, max-age=31536000, immutable",
        ETag: etag,
      };
      return conditional(c, new Response(streamed(ctx, pieces), { headers }), etag);
    },
  }),
];
