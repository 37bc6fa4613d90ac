import * as z from "zod";
import { readAgentWith } from "../../shared/agents/read.ts";
import { toMemorisation } from "../../shared/agents/memorisation.ts";
import { AgentRow } from "../../shared/agents/view.ts";
import { certifiedScoreJson } from "../../shared/certification/credential.ts";
import { verbatim } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { marksOf } from "../site/parts/in-words.ts";

const LABEL = "agent screening";
const LABEL_COLOR = "#444c56";
const COLORS = { certified: "#1a7f37", verified: "#0969da", unverified: "#6e7781" } as const;

/** Advance widths of Verdana at 11 px; characters that stand in no group are as wide as a digit. */
const WIDTHS: readonly [characters: string, pixels: number][] = [
  ["i", 3],
  [" ,.f", 3.9],
  ["rt", 4.5],
  ["cs", 5.7],
  ["aeov", 6.6],
  ["m", 10.7],
];
const OTHER_WIDTH = 7;
const PADDING = 6;

function widthOf(text: string): number {
  const widths = Array.from(text, (one) => WIDTHS.find(([characters]) => characters.includes(one))?.[1] ?? OTHER_WIDTH);
  return Math.ceil(widths.reduce((sum, width) => sum + width, 0));
}

/** An agent with the score of its certification; null where none is in force. */
const Shown = AgentRow.extend({ certified_score: z.number().nullable() });
type Shown = z.output<typeof Shown>;

/**
 * What the badge says. A certification that has ended leaves its agent verified, whatever its state still says. A score is
 * shown beside that as what it is: in a README nothing else would tell one that is over tasks of the owner's choice, or that
 * the board marks; and a simulated one is nobody's.
 */
function messageOf({
  verified_state,
  board,
  sums,
  certified_score,
}: Shown): [state: keyof typeof COLORS, message: string] {
  if (certified_score !== null) return ["certified", `certified ${certified_score.toFixed(1)}`];
  if (verified_state === "unverified") return ["unverified", "not certified"];
  if (board === null || board.tier === 2) return ["verified", "verified"];
  const marks = marksOf({ ...toMemorisation(sums), ...board });
  return ["verified", `verified${board.tier === 0 ? "" : ", provisional"}${marks} ${board.composite_score.toFixed(1)}`];
}

/** The badge as SVG. Nothing in it is the owner's text, so nothing in it needs escaping. */
function draw(agent: Shown): string {
  const [state, message] = messageOf(agent);
  const title = `${LABEL}: ${message}`;
  const [labelWidth, messageWidth] = [widthOf(LABEL), widthOf(message)];
  const left = labelWidth + 2 * PADDING;
  const right = messageWidth + 2 * PADDING;
  const written = (content: string, x: number, width: number): string =>
    `<text x="${x}" y="14" textLength="${width}">${content}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">` +
    `<title>${title}</title>` +
    `<clipPath id="c"><rect width="${left + right}" height="20" rx="3"/></clipPath>` +
    `<g clip-path="url(#c)"><rect width="${left}" height="20" fill="${LABEL_COLOR}"/>` +
    `<rect x="${left}" width="${right}" height="20" fill="${COLORS[state]}"/></g>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">` +
    written(LABEL, PADDING, labelWidth) +
    written(message, left + PADDING, messageWidth) +
    `</g></svg>`
  );
}

export const badge = [
  route({
    id: "readAgentBadge",
    method: "get",
    path: "/api/v1/agents/{agent_id}/badge.svg",
    tag: "Agents",
    summary: "An agent's certification as a picture for a README",
    description:
      "`certified` with the score of the certification while one is in force; `verified` with the composite score, " +
      "`provisional` where it is that, `memorised` and `uneven` where the board marks it so, and without a simulated one; else `not certified`. The same for every caller: for " +
      "an agent that is not public it is 404 to its owner too.",
    auth: "open",
    params: z.object({ agent_id: z.uuid() }),
    returns: { 200: { type: "image/svg+xml", description: "The badge" } },
    problems: ["not_found"],
    cache: "board",
    async handler({ ctx, params: { agent_id } }) {
      const more = certifiedScoreJson(ctx.now());
      const svg = draw(await readAgentWith(ctx, { kind: "anonymous" }, agent_id, more, Shown));
      return verbatim(svg, "image/svg+xml", { "Cache-Control": "public, max-age=300" });
    },
  }),
];
