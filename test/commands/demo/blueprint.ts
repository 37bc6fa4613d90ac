import * as z from "zod";
import { AgentOtlpTokenResponse } from "../../../shared/agents/schemas.ts";
import { AgentRead } from "../../../shared/agents/shown.ts";
import { BlueprintRead } from "../../../shared/results/blueprint.ts";
import { RunRead } from "../../../shared/runs/shown.ts";
import { ROOT } from "../../../shared/telemetry/trace.ts";
import { startInstrumented } from "../../agents/instrumented.ts";
import type { RunningAgent } from "../../agents/server.ts";
import { type ApiClient, ensure } from "./client.ts";
import { fixed, printBlock, styled } from "./print.ts";

type Blueprint = z.output<typeof BlueprintRead>;

const NAME = 34;

/** An agent that sends telemetry, registered and started, with the runs that were reserved for it. */
export interface Traced {
  agent: RunningAgent;
  id: string;
  sessionId: string;
  runs: number;
}

/**
 * Registers the instrumented agent at a free `port`, starts it with a receiver token of its own as any application with
 * OpenTelemetry is, and has it work on these tasks.
 */
export async function startTraced(
  api: ApiClient,
  { service, port, taskIds }: { service: string; port: number; taskIds: string[] },
): Promise<Traced> {
  const endpoint = `http://127.0.0.1:${port}/`;
  const { id } = await api.post("/api/v1/agents", { name: "Planner and solver", endpoint }, AgentRead);
  const receiver = await api.post(`/api/v1/agents/${id}/otlp-token`, undefined, AgentOtlpTokenResponse);
  ensure(receiver.headers !== null, "The receiver token was not shown.");
  const exporter = { url: `${receiver.endpoint}/v1/traces`, headers: receiver.headers };
  const agent = await startInstrumented({ service, port, verify: true, exporter });
  const reserved = await api.post("/api/v1/runs/batch", { agent_id: id, task_ids: taskIds }, z.array(RunRead));
  return { agent, id, sessionId: reserved[0]?.screening_session_id ?? "", runs: reserved.length };
}

/** Prints what telemetry shows of the agent. @throws DemoFailure where a run has none, or cost and calls are not from it. */
export async function printTraced(api: ApiClient, { id, runs }: Traced): Promise<void> {
  const ended = await api.all(`/api/v1/runs?agent_id=${id}`, RunRead);
  const blind = ended.find((run) => run.architecture_version === null || run.evidence_cost_source !== "self_reported");
  ensure(ended.length === runs && blind === undefined, `Run ${blind?.id} was scored without its telemetry.`);
  const blueprint = await api.get(`/api/v1/agents/${id}/blueprint`, BlueprintRead);
  ensure(blueprint.telemetry_runs === runs, `The blueprint shows ${blueprint.telemetry_runs} of ${runs} runs.`);
  const cost = ended.reduce((sum, run) => sum + (run.evidence_cost_usd ?? 0), 0);
  printBlock(`Blueprint of an agent that sends OpenTelemetry, from ${runs} runs`, [
    `${fixed("caller and called", NAME)} ${styled("dim", "calls")}`,
    ...branches(blueprint.edges, ROOT, []),
    `${blueprint.models.length} models, ${blueprint.tools.length} tools, ${blueprint.mean_spans_per_run} spans a run; cost by its spans $${cost.toFixed(6)}`,
    styled("dim", `architecture ${blueprint.architecture_hash}`),
  ]);
}

/** A line for a node and one for each call under it; a name that calls itself is not followed again. */
function branches(edges: Blueprint["edges"], name: string, path: readonly string[]): string[] {
  if (path.includes(name)) return [];
  const head = path.length === 0 ? [name] : [];
  const below = edges.filter(({ from }) => from === name);
  return [
    ...head,
    ...below.flatMap(({ to, count }, at) => {
      const last = at === below.length - 1;
      const inner = branches(edges, to, [...path, name]).map((line) => `${last ? "   " : "│  "}${line}`);
      return [`${fixed(`${last ? "└─" : "├─"} ${to}`, NAME - 3 * path.length)} ${String(count).padStart(5)}`, ...inner];
    }),
  ];
}
