import * as z from "zod";
import { AgentRead } from "../../../shared/agents/schemas.ts";
import { RunOutput, RunRead } from "../../../shared/runs/schemas.ts";
import { byHeart, type Memory } from "../../agents/forgery/mind.ts";
import { type RunningAgent, startAgent } from "../../agents/server.ts";
import { json } from "../../stack/http.ts";
import { type ApiClient, ensure } from "./client.ts";

const AT_ONCE = 8;

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
 * Reads all that the owner of these `runs` may: what was asked, and what would have been right. Then has an agent screened
 * on the suite, once, that knows all of this and can do nothing else.
 */
export async function startMemoriser(
  api: ApiClient,
  { service, suiteId, runs }: { service: string; suiteId: string; runs: readonly { id: string }[] },
): Promise<Memoriser> {
  const memory = await learn(api, runs);
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

async function learn(api: ApiClient, runs: readonly { id: string }[]): Promise<Memory[]> {
  const memory: Memory[] = [];
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    const outputs = await Promise.all(
      runs.slice(from, from + AT_ONCE).map(({ id }) => api.get(`/api/v1/runs/${id}/output`, RunOutput)),
    );
    for (const { instance } of outputs) {
      ensure(instance !== null, "The owner is not told what its agent was asked.");
      const { prompt, input, expected_output: answer } = instance;
      memory.push({ asked: { prompt, input }, answer });
    }
  }
  return memory;
}
