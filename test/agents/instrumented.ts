import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { json } from "../stack/http.ts";
import { runAlone } from "./command-line.ts";
import type { Answer, Json, Task, Usage } from "./protocol.ts";
import { callOf } from "./sample.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "./server.ts";
import { solve } from "./solve/index.ts";

const PROVIDER = "rules-of-thumb";
const [PLANNER_MODEL, SOLVER_MODEL] = ["planner-1", "rules-1"];

/** How an instrumented agent is started. Without `exporter`, its spans go where the OTEL_EXPORTER_OTLP_* variables say. */
export interface InstrumentedOptions extends AgentOptions {
  exporter?: { url: string; headers: Record<string, string> };
}

/** The tools of this agent, each with what it tells about a task and its answer. */
const TOOLS = {
  outline_input: ({ input }: Task) => (typeof input === "object" && input !== null ? Object.keys(input) : []),
  list_functions: ({ tools }: Task) => (tools ?? []).map(({ name }) => name),
  check_format: ({ output_format }: Task, answer: Answer | null) =>
    output_format === "tool_calls" ? answer?.tool_calls !== undefined : typeof answer?.output === "string",
} satisfies Record<string, (task: Task, answer: Answer | null) => Json>;
type ToolName = keyof typeof TOOLS;

/**
 * Starts an agent of several steps whose every step is a span, by the GenAI semantic conventions: a planner chooses the
 * tools, a solver works the task out, a tool checks the form. The answer says nothing of cost or tools: the spans do.
 */
export async function startInstrumented({ exporter, ...options }: InstrumentedOptions): Promise<RunningAgent> {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "instrumented-agent" }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(exporter) })],
  });
  const tracer = provider.getTracer("instrumented-agent");
  const agent = await startAgent(({ task }, _gone, { traceparent }) => {
    const caller = contextOf(traceparent);
    const answer = traced(tracer, caller, "POST /", { kind: SpanKind.SERVER }, (_span, at) => steps(tracer, at, task));
    return json(200, answer);
  }, options);
  return {
    url: agent.url,
    async close() {
      await agent.close();
      await provider.shutdown();
    },
  };
}

function steps(tracer: Tracer, at: Context, task: Task): Answer {
  const agent = <T>(name: string, does: (inside: Context) => T) =>
    traced(
      tracer,
      at,
      `invoke_agent ${name}`,
      { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name } },
      (_span, inside) => does(inside),
    );
  const tool = (inside: Context, name: ToolName, answer: Answer | null = null) =>
    traced(
      tracer,
      inside,
      `execute_tool ${name}`,
      { attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name } },
      () => TOOLS[name](task, answer),
    );
  agent("planner", (inside) => {
    const chosen = chat(tracer, inside, () => {
      const names = plan(task);
      return { result: names, call: callOf(PLANNER_MODEL, task, names) };
    });
    for (const name of chosen) tool(inside, name);
  });
  return agent("solver", (inside) => {
    const answer = chat(tracer, inside, () => {
      const result = solve(task);
      return { result, call: callOf(SOLVER_MODEL, task, result) };
    });
    tool(inside, "check_format", answer);
    return answer;
  });
}

/** The tools that help with a task. */
function plan({ input, tools }: Task): ToolName[] {
  return [...(input === undefined ? [] : ["outline_input" as const]), ...(tools ? ["list_functions" as const] : [])];
}

/** One call of a model: what it says, and what that used. */
function chat<T>(tracer: Tracer, at: Context, ask: () => { result: T; call: Usage["calls"][number] }): T {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": PROVIDER };
  return traced(tracer, at, "chat", { kind: SpanKind.CLIENT, attributes }, (span) => {
    const { result, call } = ask();
    span.updateName(`chat ${call.model}`);
    span.setAttributes({
      "gen_ai.request.model": call.model,
      "gen_ai.usage.input_tokens": call.input_tokens,
      "gen_ai.usage.output_tokens": call.output_tokens,
      "gen_ai.usage.cost": call.cost_usd,
    });
    return result;
  });
}

/** Does something within a span under `at`; a throw is noted on it and passed on. */
function traced<T>(
  tracer: Tracer,
  at: Context,
  name: string,
  options: { kind?: SpanKind; attributes?: Attributes },
  does: (span: Span, inside: Context) => T,
): T {
  const span = tracer.startSpan(name, options, at);
  try {
    return does(span, trace.setSpan(at, span));
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** The context that a caller's `traceparent` (W3C Trace Context) continues; a new trace without a valid one. */
function contextOf(traceparent: string | string[] | undefined): Context {
  const [, traceId = "", spanId = "", flags = ""] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/u.exec(String(traceparent)) ?? [];
  if (traceId === "") return ROOT_CONTEXT;
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, caller);
}

if (import.meta.main) await runAlone("instrumented", { port: 9004 }, startInstrumented);
