import { diag, type DiagLogger, DiagLogLevel, ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startInstrumented } from "../../agents/instrumented.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addRunRow, type Export, JSON_TYPE, keptSpans, newSender, send, type Sender, traceOf } from "./otlp-support.ts";
import { addSuite, deliver, range } from "../runs/support.ts";

const EXPORTERS = [
  ["protobuf", ProtobufExporter, ""],
  ["protobuf in gzip", ProtobufExporter, "gzip"],
  ["JSON", JsonExporter, ""],
  ["JSON in gzip", JsonExporter, "gzip"],
] as const;

let service: TestService;
let sender: Sender;
let run: string;
let said: Record<"warn" | "info", string[]>;

beforeAll(async () => {
  service = await startService();
  sender = await newSender(await newUser(service));
});

beforeEach(async () => {
  run = await addRunRow(service, sender.agent);
  said = { warn: [], info: [] };
  const note =
    (level: keyof typeof said) =>
    (...words: unknown[]) =>
      void said[level].push(words.join(" "));
  const quiet = () => undefined;
  const logger: DiagLogger = { error: quiet, warn: note("warn"), info: note("info"), debug: quiet, verbose: quiet };
  diag.setLogger(logger, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });
});

afterEach(() => {
  diag.disable();
  vi.unstubAllEnvs();
  vi.useRealTimers();
  service.faults.set({ service: "db", mode: "none" });
});

afterAll(() => service.stop());

/** An exporter set up by nothing but the environment, with what the token's answer says. */
function exporterOf(
  Exporter: typeof ProtobufExporter | typeof JsonExporter,
  compression: string,
  options: { sender?: Pick<Sender, "endpoint" | "headers">; timeout?: number } = {},
) {
  const { endpoint, headers } = options.sender ?? sender;
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
  vi.stubEnv(
    "OTEL_EXPORTER_OTLP_HEADERS",
    Object.entries(headers)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join(","),
  );
  if (compression !== "") vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", compression);
  vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", String(options.timeout ?? 10_000));
  return new Exporter();
}

/** Two spans as an instrumented agent makes them when it continues the `traceparent` of a run. */
function record(): ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] });
  const tracer = provider.getTracer("test");
  const traceId = traceOf(run);
  const remote = { traceId, spanId: traceId.slice(16), traceFlags: 1, isRemote: true };
  const agent = tracer.startSpan(
    "invoke_agent planner",
    { attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner" } },
    trace.setSpanContext(ROOT_CONTEXT, remote),
  );
  const call = tracer.startSpan(
    "chat gpt-4o",
    {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.cost": 0.5,
      },
    },
    trace.setSpan(ROOT_CONTEXT, agent),
  );
  call.setStatus({ code: SpanStatusCode.ERROR, message: "it failed" });
  call.addEvent("an event", { detail: "more" });
  call.end();
  agent.end();
  return memory.getFinishedSpans();
}

/** Resolves to the error that an exporter reports of an export; null where it reports success. */
function exported(exporter: ProtobufExporter | JsonExporter, spans: ReadableSpan[]): Promise<Error | null> {
  return new Promise((resolve) => {
    exporter.export(spans, ({ error }) => resolve(error ?? null));
  });
}

describe.each(EXPORTERS)("OpenTelemetry's own exporter, %s", (_name, Exporter, compression) => {
  it("delivers spans, each of which is there once however often it is exported", async () => {
    const exporter = exporterOf(Exporter, compression);
    const [call, agent] = record() as [ReadableSpan, ReadableSpan];
    for (const _time of range(2)) expect(await exported(exporter, [call, agent])).toBeNull();
    await exporter.shutdown();
    expect(said).toEqual({ warn: [], info: [] });
    const rows = await service.sql("select * from spans where run_id = $1 order by kind", [run]);
    expect(rows).toEqual([
      expect.objectContaining({
        span_id: agent.spanContext().spanId,
        parent_span_id: traceOf(run).slice(16),
        kind: "agent",
        name: "planner",
        failed: false,
      }),
      expect.objectContaining({
        span_id: call.spanContext().spanId,
        parent_span_id: agent.spanContext().spanId,
        kind: "model",
        operation: "chat",
        name: "chat gpt-4o",
        provider: "openai",
        model: "gpt-4o",
        input_tokens: 12,
        cost_usd: 0.5,
        failed: true,
      }),
    ]);
  });

  it("warns of a partial success", async () => {
    await service.sql(
      `insert into spans (run_id, span_id, agent_id, kind, name, started_at, duration_ms)
       select $1, to_char(n, 'FM0000000000000000'), $2, 'other', 'old', now(), 0 from generate_series(1, 1999) n`,
      [run, sender.agent],
    );
    const exporter = exporterOf(Exporter, compression);
    expect(await exported(exporter, record())).toBeNull();
    await exporter.shutdown();
    expect(said.warn).toEqual([expect.stringContaining("1 beyond the 2000 that are kept of one run")]);
    expect(said.warn[0]).toMatch(/"rejectedSpans":"?1"?/);
    expect(await keptSpans(service, run)).toBe(2000);
  });

  it("comes again when the database does, at the time it was told", async () => {
    service.faults.set({ service: "db", mode: "down" });
    const exporter = exporterOf(Exporter, compression, { timeout: 1000 });
    expect(await exported(exporter, record())).toBeInstanceOf(Error);
    await exporter.shutdown();
    expect(said.info).toEqual([expect.stringContaining("Export retry time 5000ms exceeds remaining timeout")]);
    expect(await keptSpans(service, run)).toBe(0);
  });

  it("does not come again with a token that is not good", async () => {
    const revoked = { ...sender, headers: { Authorization: "Bearer otlp_revoked" } };
    const exporter = exporterOf(Exporter, compression, { sender: revoked });
    expect(await exported(exporter, record())).toBeInstanceOf(Error);
    await exporter.shutdown();
    expect(said.info).toEqual([expect.stringContaining("non-retryable")]);
  });
});

describe("a token that sent 120 requests within a minute", () => {
  it("is told when to come again, in any encoding, while other tokens are served", async () => {
    // The limiter's windows are those of the machine's clock: none may end in between.
    vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 60_000) * 60_000 });
    const busy = await newSender(sender.owner);
    const answers: Export[] = [];
    while (answers.length < 150 && answers.at(-1)?.status !== 429) answers.push(await send(service, busy, []));
    const refused = [answers.at(-1), await send(service, busy, [], { json: true })];
    expect(answers).toHaveLength(121);
    for (const answer of refused) {
      expect(answer?.status).toBe(429);
      expect(answer?.headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
      expect(answer?.headers.get("ratelimit-policy")).toBe('"minute";q=120;w=60');
    }
    // RESOURCE_EXHAUSTED, as the first field of a google.rpc.Status.
    expect([...(refused[0]?.body.subarray(0, 2) ?? [])]).toEqual([8, 8]);
    expect(JSON.parse(refused[1]?.body.toString() ?? "")).toMatchObject({ code: "rate_limited" });
    expect((await send(service, sender, [])).status).toBe(200);

    const exporter = exporterOf(ProtobufExporter, "", { sender: busy, timeout: 500 });
    expect(await exported(exporter, record())).toBeInstanceOf(Error);
    await exporter.shutdown();
    expect(said.info).toEqual([expect.stringMatching(/Export retry time \d{1,2}000ms exceeds remaining timeout/)]);
  });
});

it("counts requests without a good token against their address", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 60_000) * 60_000 });
  const post = (headers: Record<string, string>) =>
    fetch(`${service.url}/api/v1/otlp/v1/traces`, {
      method: "POST",
      headers: { ...JSON_TYPE, ...headers, "cf-connecting-ip": "10.77.0.1" },
      body: "{}",
    });
  const answers: Response[] = [];
  for (const one of range(610)) answers.push(await post(one % 2 === 0 ? {} : { authorization: "Bearer otlp_made-up" }));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([count(401), count(429)]).toEqual([600, 10]);
  expect(answers[0]?.headers.get("ratelimit-policy")).toBe('"minute";q=600;w=60');
});

it("gives an instrumented agent a score with its traced costs, and a blueprint of its steps", async () => {
  const owner = await newUser(service, { plan: "pro" });
  const { agent, endpoint, headers } = await newSender(owner);
  const exporter = { url: `${endpoint}/v1/traces`, headers };
  const instrumented = await startInstrumented({ service: service.url, exporter });
  await owner.call("PATCH", `/api/v1/agents/${agent}`, { endpoint: instrumented.url });
  const [task = ""] = (await addSuite(service, 1)).tasks;
  const { body: submitted } = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: task });
  await service.settled();
  // The end of the agent sends what its processor still holds.
  await instrumented.close();
  expect(await deliver(service, "score", submitted.id)).toBe(200);

  const { body: scored } = await owner.call("GET", `/api/v1/runs/${submitted.id}`);
  expect(scored).toMatchObject({
    status: "completed",
    evidence_cost_source: "self_reported",
    evidence_total_call_count: 2,
    evidence_cost_partial: false,
    tool_calls_made: 1,
    architecture_version: 1,
  });
  const { body: blueprint } = await owner.call("GET", `/api/v1/agents/${agent}/blueprint`);
  expect(blueprint).toMatchObject({ run_count: 1, telemetry_runs: 1, window: [submitted.id] });
  const named = (entries: { name: string }[]) => entries.map(({ name }) => name).toSorted();
  expect(named(blueprint.models)).toEqual(["planner-1", "rules-1"]);
  expect(named(blueprint.tools)).toEqual(["check_format"]);
  expect(blueprint.edges).toContainEqual({ from: "solver", to: "check_format", count: 1 });
});
