import * as z from "zod";
import { findCredential, type IssuedCredential } from "../../shared/certification/credential.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Principal } from "../../shared/identity/principal.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { type AgentEntry, readEntries } from "../../shared/board/board.ts";
import { readRecord } from "../../shared/results/agent-record.ts";
import { Blueprint, Timeline } from "./blueprint.tsx";
import { Bar, Day, Layout, page, percent, variantsOf } from "./layout.tsx";
import { Scroll } from "./parts/notice.tsx";

const AXES = [
  ["correctness", "Correctness"],
  ["latency", "Latency"],
  ["cost", "Cost"],
  ["tool_efficiency", "Tool efficiency"],
  ["robustness", "Robustness"],
] as const;

const percentagePoints = (gap: number): string => (100 * gap).toFixed(1);

function Axes({ axes }: { axes: AgentEntry["axes"] }) {
  return (
    <Scroll label="Fitness">
      <table>
        <tbody>
          {AXES.map(([name, title]) => {
            const value = axes[name];
            return (
              <tr>
                <th>{title}</th>
                <td>{value === null ? "no evidence" : <Bar value={value} label={percent(value)} />}</td>
                <td class="number">{percent(value)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Domains({ entries }: { entries: AgentEntry[] }) {
  return (
    <Scroll label="By domain">
      <table>
        <thead>
          <tr>
            <th>Domain</th>
            <th class="number">Score</th>
            <th>95% interval</th>
            <th class="number">Success</th>
            <th class="number">Tasks</th>
            <th class="number">Runs</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr>
              <th>{entry.domain.replaceAll("_", " ")}</th>
              <td class="number">{entry.composite_score.toFixed(2)}</td>
              <td>
                <Bar
                  value={entry.composite_score / 100}
                  low={entry.score_low / 100}
                  high={entry.score_high / 100}
                  label={`${entry.score_low.toFixed(1)} to ${entry.score_high.toFixed(1)}`}
                />
              </td>
              <td class="number">{percent(entry.success_rate)}</td>
              <td class="number">{entry.tasks}</td>
              <td class="number">{entry.runs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

type Shown = Awaited<ReturnType<typeof readRecord>> & { entries: AgentEntry[]; certification: IssuedCredential | null };

function AgentPage({ agent, blueprint, timeline, entries, certification }: Shown) {
  const overall = entries.find(({ domain }) => domain === "all");
  return (
    <Layout title={agent.name}>
      <h1>
        <bdi>{agent.name}</bdi>
      </h1>
      <p dir="auto">{agent.description}</p>
      {agent.connection_mode !== undefined && (
        <p>
          <a class="button" href={`/agents/${agent.id}/screen`}>
            Screen this agent
          </a>{" "}
          <a class="button quiet" href={`/agents/${agent.id}/edit`}>
            Change it
          </a>{" "}
          {!agent.is_public && <span class="tag">private: others find nothing here</span>}
        </p>
      )}
      {certification !== null && (
        <p>
          <strong>Certified</strong> on <Day time={certification.issued_at} /> with a score of{" "}
          {certification.score.toFixed(2)}, until <Day time={certification.expires_at} />:{" "}
          <a href={`/api/v1/agents/${agent.id}/credential`}>credential</a>
        </p>
      )}
      {overall === undefined ? (
        <p>No run of this agent counts yet.</p>
      ) : (
        <>
          <dl>
            <dt>Score</dt>
            <dd>
              <strong>{overall.composite_score.toFixed(2)}</strong> ({overall.score_low.toFixed(1)} to{" "}
              {overall.score_high.toFixed(1)}), {overall.simulated ? "simulated" : overall.score_basis}
            </dd>
            <dt>State</dt>
            <dd>{agent.verified_state}</dd>
            <dt>Parts</dt>
            <dd>
              success {percent(overall.success_rate)}, reliability {percent(overall.reliability)}, cost{" "}
              {percent(overall.cost_efficiency)}
            </dd>
            <dt>Cost</dt>
            <dd>
              reported by the agent itself
              {overall.evidence_cost_floor_applied && ", in part below the floor, and taken at that"}
            </dd>
            {overall.variants > 0 && (
              <>
                <dt>Group</dt>
                <dd>{variantsOf(overall)}</dd>
              </>
            )}
            {overall.memorisation_gap !== null && (
              <>
                <dt>Samples</dt>
                <dd>
                  {overall.memorised && <span class="tag">memorised</span>} passes the published samples more often than
                  new tasks by {percentagePoints(overall.memorisation_gap.value)} percentage points (
                  {percentagePoints(overall.memorisation_gap.low)} to {percentagePoints(overall.memorisation_gap.high)},{" "}
                  {overall.memorisation_gap.canary_runs} canaries)
                </dd>
              </>
            )}
            <dt>Evidence</dt>
            <dd>
              {overall.runs} runs of {overall.tasks} tasks: <a href={`/api/v1/runs?agent_id=${agent.id}`}>runs</a>,{" "}
              <a href={`/api/v1/agents/${agent.id}/screening-sessions`}>sessions</a>
            </dd>
          </dl>
          <h2>Fitness</h2>
          <Axes axes={overall.axes} />
          <h2>By domain</h2>
          <Domains entries={entries.filter(({ domain }) => domain !== "all")} />
        </>
      )}
      {blueprint.telemetry_runs > 0 && <Blueprint blueprint={blueprint} own={agent.connection_mode !== undefined} />}
      {timeline.items.length > 0 && <Timeline items={timeline.items} />}
    </Layout>
  );
}

/** What somebody who is signed in sees is for nobody else: no cache in between keeps it. */
function seenBy({ kind }: Principal, reply: Reply): Reply {
  const kept = kind === "anonymous" ? {} : { "Cache-Control": "private, no-store" };
  return { ...reply, headers: { ...reply.headers, ...kept, Vary: "Authorization, Cookie, X-API-Key" } };
}

export const agentPage = [
  route({
    id: "showAgent",
    method: "get",
    path: "/agents/{agent_id}",
    tag: "Pages",
    summary: "An agent's record as a page",
    description: "A private agent's for its owner and members alone.",
    auth: "open",
    params: z.object({ agent_id: z.uuid() }),
    returns: {
      200: { type: "text/html", description: "The record" },
      404: { type: "text/html", description: "No such agent" },
    },
    async handler({ ctx, principal, params: { agent_id } }) {
      try {
        const [record, entries, certification] = await Promise.all([
          readRecord(ctx, principal, agent_id),
          readEntries(ctx, agent_id),
          findCredential(ctx, principal, agent_id),
        ]);
        return seenBy(principal, page(<AgentPage {...record} entries={entries} certification={certification} />));
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 404) throw error;
        return page(
          <Layout title="Not found">
            <h1>No such agent</h1>
            <p>
              There is no public agent here. The <a href="/">board</a> shows those that there are.
            </p>
          </Layout>,
          404,
        );
      }
    },
  }),
];
