/** What a span stands for in a blueprint. */
export const SPAN_KINDS = ["model", "tool", "agent", "other"] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** A value of an attribute that is kept; values of other types are not. */
export type AttributeValue = string | number;

/**
 * The names under which instrumentations send what is kept of a span, the preferred one first: the GenAI semantic
 * conventions, current and before 1.37, then OpenLLMetry, OpenInference, the Vercel AI SDK, Spring AI, LangSmith,
 * Pydantic AI, LiteLLM, Cloudflare's AI Gateway and Claude Code.
 */
export const NAMES = {
  operation: ["gen_ai.operation.name"],
  role: [
    "openinference.span.kind",
    // Before OpenLLMetry's kind: the span that it makes of a method of LlamaIndex is a `task` even where it calls a model.
    "llm.request.type",
    "traceloop.span.kind",
    "ai.operationId",
    "spring.ai.kind",
    "langsmith.span.kind",
  ],
  provider: [
    "gen_ai.provider.name",
    "gen_ai.system",
    "gen_ai.model.provider",
    "llm.provider",
    "llm.system",
    "llm.vendor",
    "ai.model.provider",
  ],
  model: [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.response.model_name",
    "llm.response.model",
    "llm.model_name",
    "llm.request.model_name",
    "llm.request.model",
    "embedding.model_name",
    "ai.model.id",
  ],
  inputTokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "usage.prompt_tokens",
    "ai.usage.tokens",
  ],
  outputTokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "usage.completion_tokens",
  ],
  // Claude Code's. What its model read from a cache, or wrote to one, stands beside the rest, not in it.
  writtenTokens: ["output_tokens"],
  uncachedTokens: ["input_tokens"],
  cacheReadTokens: ["cache_read_tokens"],
  cacheWriteTokens: ["cache_creation_tokens"],
  cost: [
    "gen_ai.usage.cost",
    "gen_ai.usage.total_cost",
    "gen_ai.cost.total_cost",
    "litellm.cost.total",
    "llm.cost.total",
    "operation.cost",
  ],
  tool: ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "spring.ai.tool.definition.name", "tool_name"],
  agent: ["gen_ai.agent.name", "agent.name", "gen_ai.workflow.name"],
  entity: ["traceloop.entity.name"],
  error: ["error.type"],
} as const satisfies Record<string, readonly string[]>;

/** What an attribute says about its span; of two with the same field, the one of lower rank is preferred. */
export interface Meaning {
  field: keyof typeof NAMES;
  rank: number;
}

/** What attributes say, by their names. One without an entry is not kept: its value is not even decoded. */
export const MEANINGS: ReadonlyMap<string, Meaning> = new Map(meaningsOf(NAMES));

function meaningsOf<Field extends Meaning["field"]>(names: Readonly<Record<Field, readonly string[]>>) {
  const meanings: [string, Meaning][] = [];
  for (const field in names)
    meanings.push(...names[field].map((name, rank): [string, Meaning] => [name, { field, rank }]));
  return meanings;
}

const OPERATIONS: ReadonlyMap<string, SpanKind> = new Map([
  ["chat", "model"],
  ["text_completion", "model"],
  ["generate_content", "model"],
  ["embeddings", "model"],
  ["execute_tool", "tool"],
  ["invoke_agent", "agent"],
  ["create_agent", "agent"],
  ["invoke_workflow", "agent"],
  // What they name is the model of an index, or the agent that they belong to: they call neither.
  ["plan", "other"],
  ["retrieval", "other"],
  ["rerank", "other"],
  ...["create", "update", "upsert", "search", "delete"].map((verb) => [`${verb}_memory`, "other"] as const),
  ["create_memory_store", "other"],
  ["delete_memory_store", "other"],
  // OpenLIT's and OpenLLMetry's, for what goes on around the calls of the model that they name.
  ["execute_task", "other"],
  ["user_prompt_processing", "other"],
  ["tool_coordination", "other"],
  // AG2's, for a whole conversation: it names the model of the agent that is talked to, and sums up what all calls cost.
  ["conversation", "other"],
]);

/** The kinds of OpenInference, OpenLLMetry, Spring AI and LangSmith, OpenLLMetry's request types and the Vercel AI SDK's operations, in lower case. */
const ROLES: ReadonlyMap<string, SpanKind> = new Map([
  ["llm", "model"],
  ["embedding", "model"],
  ["chat", "model"],
  ["completion", "model"],
  ["tool", "tool"],
  ["agent", "agent"],
  ["chain", "other"],
  ["workflow", "other"],
  ["task", "other"],
  ["retriever", "other"],
  ["reranker", "other"],
  ["ai.rerank", "other"],
  ["ai.rerank.dorerank", "other"],
  ["guardrail", "other"],
  ["evaluator", "other"],
  // Spring AI's, whose operation is `framework`.
  ["tool_call", "tool"],
  ["chat_client", "other"],
  ["advisor", "other"],
  ["vector_store", "other"],
  // LangSmith's.
  ["prompt", "other"],
  ["parser", "other"],
  // The Vercel AI SDK names its models by the GenAI conventions, too, but not those of embeddings. What it encloses them
  // by names the model as well, and sums up their tokens.
  ["ai.embed.doembed", "model"],
  ["ai.embedmany.doembed", "model"],
  ...["generatetext", "streamtext", "generateobject", "streamobject", "embed", "embedmany"].map(
    (operation) => [`ai.${operation}`, "other"] as const,
  ),
]);

/** How Google's ADK names what it tells once more of tools that were called at once, each of which has a span of its own. */
const MERGED = "(merged tools)";

/** How OpenClaw names the span that sums up a run's calls of models, each of which has a span of its own, too. */
const SUMMED = "openclaw.model.usage";

/**
 * What a span stands for: decided by its operation, else by the kind that other conventions give it, else by what it
 * names. A tool's span may name the model that called it, and a model's span its agent, so the narrower one wins.
 */
export function kindOf(said: {
  name: string;
  operation: string | null;
  role: string | null;
  tool: string | null;
  model: string | null;
  agent: string | null;
  tokens: boolean;
}): SpanKind {
  const operation = OPERATIONS.get(said.operation ?? "");
  const role = ROLES.get(said.role?.toLowerCase() ?? "");
  const hasCalled = said.model !== null || said.tokens;
  // LangSmith has the filling-in of a prompt as `chat`, and a search as `embeddings`; OpenLLMetry has a task of CrewAI's as
  // `invoke_agent`, with what is asked in it for its name.
  const isNamed = operation === "agent" ? said.agent !== null : operation !== "model" || hasCalled;
  if (role === "other" && !isNamed) return role;
  if (said.tool === MERGED || said.name === SUMMED) return "other";
  const kind = operation ?? role;
  if (kind !== undefined) return kind;
  if (said.tool !== null) return "tool";
  // As Pydantic AI sums up an agent's run. The name alone stands on whatever happens while an agent is at work, by baggage.
  if (said.agent !== null && said.model === null) return said.tokens ? "agent" : "other";
  return hasCalled ? "model" : "other";
}
