import * as z from "zod";
import { AgentRead } from "../../../shared/agents/shown.ts";
import { RunRead } from "../../../shared/runs/shown.ts";
import { byHeart, type Memory } from "../../agents/forgery/mind.ts";
import { type RunningAgent, startAgent } from "../../agents/server.ts";
import { json } from "../../stack/http.ts";
import { type ApiClient, ensure } from "./client.ts";
import type { Outputs } from "./outputs.ts";

/** An agent that knows answers by heart, and its screening. */
export interface Memoriser {
  agent: RunningAgent;
  id: string;
  sessionId: string;
  runs: number;
  /** How many tasks it knows, with what was right. */
  known: number;
}

/**
 * Has an agent screened on the suite, once, that can do nothing but remember these `outputs`: what was asked, and what would
 * have been right, as the owner of the runs may read it.
 */
export async function startMemoriser(
  api: ApiClient,
  { service, suiteId, outputs }: { service: string; suiteId: string; outputs: Outputs },
): Promise<Memoriser> {
  const memory = learn(outputs);
  const answer = byHeart(memory);
  const agent = await startAgent(
    ({ task: { prompt, input = null } }) => json(200, answer({ task: { prompt, input } })),
    {
      service,
      verify: true,
    },
  );
  const { id } = await api.post("/api/v1/agents", { name: "By heart", endpoint: agent.url }, AgentRead);
  const reserved = await api.post("/api/v1/runs/batch", { agent_id: id, suite_id: suiteId }, z.array(RunRead));
  const sessionId = reserved[0]?.screening_session_id ?? "";
  return { agent, id, sessionId, runs: reserved.length, known: memory.length };
}

function learn(outputs: Outputs): Memory[] {
  return [...outputs.values()].map(({ instance }) => {
    ensure(instance !== null, "The owner is not told what its agent was asked.");
    const { prompt, input, expected_output: answer } = instance;
    return { asked: { prompt, input }, answer };
  });
}
