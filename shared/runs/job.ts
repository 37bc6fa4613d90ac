/** A claimed run with all that is needed to carry it out, as the claiming statement returns it. */
export interface Job {
  run: {
    id: string;
    agent_id: string;
    screening_session_id: string | null;
    repeat_index: number | null;
    repeat_total: number | null;
    attempt: number;
    simulated: boolean;
  };
  agent: { endpoint: string | null; agent_protocol: "native" | "openai_chat" | "a2a" };
  task: {
    domain: string;
    prompt: string;
    input: unknown;
    output_format: "text" | "json" | "tool_calls";
    output_schema: unknown;
    tools: { name: string; description: string; parameters: unknown }[] | null;
    expected_output: unknown;
    time_limit_ms: number;
    reference_cost_usd: number;
    reference_latency_ms: number;
  };
}
