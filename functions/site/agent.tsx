import * as z from "zod";
import { findCredential, type IssuedCredential } from "../../shared/certification/credential.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Principal } from "../../shared/identity/principal.ts";
import { type AgentEntry, readEntries } from "../../shared/board/board.ts";
import { readFrontier } from "../../shared/board/frontier.ts";
import { readHistory } from "../../shared/board/history.ts";
import { AgentHistory } from "../../shared/board/history-shown.ts";
import { readRecord } from "../../shared/results/agent-record.ts";
import { readStats } from "../../shared/results/stats.ts";
import { Blueprint, Timeline } from "./blueprint.tsx";
import { Day, Layout, page } from "./layout.tsx";
import { Badge } from "./parts/agent/badge.tsx";
import { Domains } from "./parts/agent/domains.tsx";
import { Recent } from "./parts/agent/recent.tsx";
import { Score } from "./parts/agent/score.tsx";
import { RadarChart } from "./parts/charts/radar.tsx";
import { ScatterChart } from "./parts/charts/scatter.tsx";
import { recordOf } from "./parts/in-words.ts";
import { Empty } from "./parts/notice.tsx";
import { ScoreLine } from "./parts/score-line.tsx";
import { resumeFirst } from "./parts/view.ts";

const AXES = [
  ["correctness", "Correctness"],
  ["latency", "Latency"],
  ["cost", "Cost efficiency"],
  ["tool_efficiency", "Tool efficiency"],
  ["robustness", "Robustness"],
] as const;

interface Shown extends Awaited<ReturnType<typeof readRecord>> {
  entries: AgentEntry[];
  certification: IssuedCredential | null;
  stats: Awaited<ReturnType<typeof readStats>>;
  history: z.output<typeof AgentHistory>["items"];
  group: Awaited<ReturnType<typeof readFrontier>>;
  baseUrl: string;
  /** Whether the reader is signed in. */
  signedIn: boolean;
}

function Head({ agent, certification }: Shown) {
  return (
    <>
      <h1>
        <bdi>{agent.name}</bdi>
      </h1>
      <p dir="auto">{agent.description}</p>
      {agent.connection_mode !== undefined && (
        <p>
          {agent.is_active && (
            <>
              <a class="button" href={`/agents/${agent.id}/screen`}>
                Screen this agent
              </a>{" "}
            </>
          )}
          <a class="button quiet" href={`/agents/${agent.id}/edit`}>
            Change it
          </a>{" "}
          {agent.is_active && agent.connection_mode === "http_endpoint" && (
            <>
              <a class="button quiet" href={`/agents/${agent.id}/certify`}>
                Certify it
              </a>{" "}
            </>
          )}
          {agent.is_active && agent.allow_trial && (
            <>
              <a class="button quiet" href={`/agents/${agent.id}/try`}>
                How others try it
              </a>{" "}
            </>
          )}
          {!agent.is_public && <span class="tag">private: others find nothing here</span>}
          {!agent.is_active && <span class="tag">retired</span>}
        </p>
      )}
      {agent.connection_mode === undefined && agent.allow_trial && !agent.connection_retired && (
        <p>
          <a class="button" href={`/agents/${agent.id}/try`}>
            Try it
          </a>
        </p>
      )}
      {certification !== null && (
        <p>
          <strong>Certified</strong> on <Day time={certification.issued_at} /> with a score of{" "}
          {certification.score.toFixed(2)}, until <Day time={certification.expires_at} />:{" "}
          <a href={`/api/v1/agents/${agent.id}/credential`}>credential</a>
        </p>
      )}
    </>
  );
}

/** The five axes, and the score day by day. */
function Fitness({ axes, history }: Pick<AgentEntry, "axes"> & Pick<Shown, "history">) {
  return (
    <>
      <h2>Fitness</h2>
      <div class="pair">
        <RadarChart title="Five axes" axes={AXES.map(([name, title]) => ({ name: title, value: axes[name] }))} />
        <ScoreLine title="Score day by day" history={history} />
      </div>
    </>
  );
}

/** The agent among its variants, where it has any. */
function Variants({ group: { members: variants, is_capped: capped } }: Pick<Shown, "group">) {
  if (variants.length < 2) return null;
  return (
    <>
      <h2>Variants</h2>
      <ScatterChart
        title="Pass rate over cost"
        choices={variants.map(
          ({ name, pass_rate: share, mean_cost_per_task_usd: cost, on_frontier: best, provenance, ...counts }) => ({
            name,
            share,
            cost,
            ...(counts.priced_runs < counts.runs ? { known: `${counts.priced_runs} of ${counts.runs} runs` } : {}),
            best,
            simulated: provenance === "simulated",
          }),
        )}
      />
      {capped && <p>There are more variants: these are the latest.</p>}
      <ul>
        {variants.map(({ agent_id, name, provenance, is_hired: isHired }) => (
          <li>
            <a href={`/agents/${agent_id}`}>
              <bdi>{name}</bdi>
            </a>
            {provenance === "simulated" && <span class="tag">simulated</span>}
            {isHired && <span class="tag">a copy that was bought</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function AgentPage(shown: Shown) {
  const { agent, blueprint, timeline, entries, stats, history, group, baseUrl, signedIn } = shown;
  const overall = entries.find(({ domain }) => domain === "all");
  // Its pictures are everybody's: there are none of what nobody else finds.
  const isOpen = agent.is_public && agent.is_active;
  const address = `${baseUrl}/agents/${agent.id}`;
  return (
    <Layout
      title={agent.name}
      told={`AI agent, ${recordOf(agent)}. ${agent.description}`.trim()}
      address={address}
      {...(signedIn ? { own: agent.connection_mode === undefined ? "" : "/home" } : {})}
      {...(isOpen ? { picture: `${address}/picture.svg` } : {})}
    >
      <Head {...shown} />
      {overall === undefined ? (
        <Empty>
          <p>No run of this agent counts yet, so it has no score. A screening of the core tasks gives it one.</p>
        </Empty>
      ) : (
        <>
          <Score agentId={agent.id} state={agent.verified_state} entry={overall} stats={stats} />
          <Fitness axes={overall.axes} history={history} />
          <Domains entries={entries.filter(({ domain }) => domain !== "all")} />
        </>
      )}
      <Variants group={group} />
      <Recent agentId={agent.id} runs={stats.recent_runs} />
      {blueprint.telemetry_runs > 0 && <Blueprint blueprint={blueprint} own={agent.connection_mode !== undefined} />}
      {timeline.items.length > 0 && <Timeline items={timeline.items} />}
      {isOpen && <Badge baseUrl={baseUrl} agentId={agent.id} />}
    </Layout>
  );
}

/** What somebody who is signed in sees is for nobody else: no cache in between keeps it. */
function seenBy({ kind }: Principal, reply: Reply): Reply {
  const kept = kind === "anonymous" ? {} : { "Cache-Control": "private, no-store" };
  return { ...reply, headers: { ...reply.headers, ...kept, Vary: "Cookie" } };
}

export const agentPage = [
  route({
    id: "showAgent",
    method: "get",
    path: "/agents/{agent_id}",
    tag: "Pages",
    summary: "An agent's record as a page",
    description:
      "A private agent's for its owner and members alone. A browser whose session is over is sent to take it up again first.",
    auth: "visitor",
    params: z.object({ agent_id: z.uuid() }),
    returns: { 200: { type: "text/html", description: "The record" }, 302: null },
    problems: ["not_found"],
    cache: "board",
    async handler({ ctx, c, principal, params: { agent_id } }) {
      const resuming = principal.kind === "anonymous" ? await resumeFirst({ ctx, c }) : null;
      if (resuming !== null) return resuming;
      const [record, entries, certification, stats, history, group] = await Promise.all([
        readRecord(ctx, principal, agent_id),
        readEntries(ctx, principal, agent_id),
        findCredential(ctx, principal, agent_id),
        readStats(ctx, principal, agent_id),
        readHistory(ctx, principal, agent_id, { period: "all" }),
        readFrontier(ctx, principal, agent_id),
      ]);
      const { items } = AgentHistory.parse(history);
      const signedIn = principal.kind !== "anonymous";
      const rest = { entries, certification, stats, history: items, group, baseUrl: ctx.env.BASE_URL, signedIn };
      return seenBy(principal, page(<AgentPage {...record} {...rest} />));
    },
  }),
];
