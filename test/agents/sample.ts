import { json } from "../stack/http.ts";
import { runAlone } from "./command-line.ts";
import type { AnswerBody, Task, Usage } from "./protocol.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "./server.ts";
import { solve } from "./solve/index.ts";

const MODEL = "rules-1";
const CHARACTERS_PER_TOKEN = 4;
/** What this agent asks for its own computing time, in US dollars. */
const USD_PER_MILLION_TOKENS = 0.1;

/**
 * Works a task out by rules and says what that used: no model is called, so the one call names the rules, counts a
 * token for every four characters of task and answer, and gives the agent's own price for them.
 */
export function work(task: Task): AnswerBody {
  const answer = solve(task);
  return { ...answer, usage: { calls: [callOf(MODEL, task, answer)] } };
}

/** What a call of these rules used, by what went in and what came out. */
export function callOf(model: string, input: object, output: object): Usage["calls"][number] {
  const [input_tokens, output_tokens] = [tokensOf(input), tokensOf(output)];
  const cost_usd = ((input_tokens + output_tokens) * USD_PER_MILLION_TOKENS) / 1_000_000;
  return { model, input_tokens, output_tokens, cost_usd };
}

/** Starts the agent that answers each call at once. It keeps nothing: the same task gets the same answer again. */
export function startSample(options: AgentOptions): Promise<RunningAgent> {
  return startAgent(({ task }) => json(200, work(task)), options);
}

function tokensOf(value: object): number {
  return Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
}

if (import.meta.main) await runAlone("sample", { port: 9001 }, startSample);
