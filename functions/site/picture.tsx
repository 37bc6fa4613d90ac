import { AgentRead } from "../../shared/agents/shown.ts";
import { type Reply, verbatim } from "../../shared/http/reply.ts";
import { intervalOf, marksOf } from "./parts/in-words.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const SIZE = { width: 1200, height: 630 };
const LINE = 30;
const MAX_LINES = 3;

/** A name in lines that fit the picture, cut where it needs more of them. Letters that belong together stay so. */
export function linesOf(name: string): string[] {
  const letters = Array.from(new Intl.Segmenter().segment(name), ({ segment }) => segment);
  const most = LINE * MAX_LINES;
  const shown = letters.length <= most ? letters : [...letters.slice(0, most - 1), "…"];
  return Array.from({ length: Math.ceil(shown.length / LINE) }, (_line, index) =>
    shown.slice(index * LINE, (index + 1) * LINE).join(""),
  );
}

/** What of an agent everybody may see, as a picture for where its page's address is passed on. Throws 404. */
async function picture({ api, params }: Visit): Promise<Reply> {
  const agent = await api.read(`/api/v1/agents/${params["agent_id"]}`, AgentRead);
  const { composite_score: score, score_low: low, score_high: high } = agent;
  const width = SIZE.width - 160;
  const markup = (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} font-family="sans-serif">
      <title>{agent.name}</title>
      <rect width={SIZE.width} height={SIZE.height} fill="#10161d" />
      <text x="80" y="110" font-size="34" fill="#9fadbb">
        Agent Screening
      </text>
      {linesOf(agent.name).map((line, index) => (
        <text
          x={SIZE.width / 2}
          y={210 + 70 * index}
          font-size="56"
          font-weight="700"
          fill="#e8edf2"
          text-anchor="middle"
        >
          {line}
        </text>
      ))}
      {agent.score_basis === null ? (
        <text x="80" y="520" font-size="44" fill="#9fadbb">
          No run counts yet
        </text>
      ) : (
        <>
          <text x="80" y="480" font-size="72" font-weight="700" fill="#7dacff">
            {score.toFixed(2)}
          </text>
          <text x={SIZE.width - 80} y="480" font-size="34" fill="#9fadbb" text-anchor="end">
            {intervalOf(agent)},{" "}
            {agent.simulated ? "simulated" : agent.score_basis === "core" ? agent.verified_state : "provisional"}
            {marksOf(agent)}
          </text>
          <rect x="80" y="510" width={width} height="28" rx="6" fill="#18212b" />
          <rect
            x={80 + (width * low) / 100}
            y="510"
            width={(width * (high - low)) / 100}
            height="28"
            rx="6"
            fill="#27436f"
          />
          <rect x={78 + (width * score) / 100} y="504" width="5" height="40" fill="#7dacff" />
        </>
      )}
    </svg>
  );
  return verbatim(String(await markup), "image/svg+xml; charset=utf-8", { "Cache-Control": "public, max-age=300" });
}

export const picturePages: readonly View[] = [
  view({
    path: "/agents/{agent_id}/picture.svg",
    title: "An agent as a picture",
    show: picture,
    kept: { tag: "board" },
  }),
];
