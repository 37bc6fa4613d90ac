/** What the receiver is measured against: the export parsed whole by the protobuf library, its spans inserted as they are. */
import { Buffer } from "node:buffer";
import { create, createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

interface Span {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  startTimeUnixNano: bigint;
  endTimeUnixNano: bigint;
  attributes: { key: string; value: { stringValue: string; intValue: bigint } }[];
  status?: { code: number };
}

interface Request {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

/** The messages of opentelemetry-proto by their fields: number, then type, or the message and whether it is repeated. */
const MESSAGES: Record<string, Record<string, [number, Type] | [number, string, "one" | "many"]>> = {
  Request: { resource_spans: [1, "ResourceSpans", "many"] },
  ResourceSpans: { scope_spans: [2, "ScopeSpans", "many"] },
  ScopeSpans: { spans: [2, "Span", "many"] },
  Span: {
    trace_id: [1, Type.BYTES],
    span_id: [2, Type.BYTES],
    parent_span_id: [4, Type.BYTES],
    name: [5, Type.STRING],
    start_time_unix_nano: [7, Type.FIXED64],
    end_time_unix_nano: [8, Type.FIXED64],
    attributes: [9, "KeyValue", "many"],
    status: [15, "Status", "one"],
  },
  Status: { code: [3, Type.INT32] },
  KeyValue: { key: [1, Type.STRING], value: [2, "AnyValue", "one"] },
  AnyValue: { string_value: [1, Type.STRING], int_value: [3, Type.INT64], double_value: [4, Type.DOUBLE] },
};

const file = create(FileDescriptorProtoSchema, {
  name: "otlp.proto",
  syntax: "proto3",
  messageType: Object.entries(MESSAGES).map(([name, fields]) => ({
    name,
    field: Object.entries(fields).map(([field, [number, type, times]]) => ({
      name: field,
      number,
      label: times === "many" ? Label.REPEATED : Label.OPTIONAL,
      ...(typeof type === "string" ? { type: Type.MESSAGE, typeName: `.${type}` } : { type }),
    })),
  })),
});
const RequestSchema = createFileRegistry(file, () => undefined).getMessage("Request") as DescMessage;

const INSERT = `insert into spans (agent_id, run_id, span_id, parent_span_id, kind, operation, name, provider, model,
    input_tokens, output_tokens, cost_usd, failed, started_at, duration_ms)
  select $1, run_id, span_id, parent_span_id, kind, operation, name, provider, model, input_tokens, output_tokens,
    cost_usd, failed, to_timestamp(started_at), duration_ms
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::integer[], $11::integer[], $12::double precision[], $13::boolean[], $14::double precision[],
    $15::double precision[])
    as s(run_id, span_id, parent_span_id, kind, operation, name, provider, model, input_tokens, output_tokens, cost_usd,
      failed, started_at, duration_ms)`;

/** Parses an export in protobuf and inserts its spans under an agent, without any rule. */
export async function insertSpans(
  bytes: Uint8Array,
  agent: string,
  query: (text: string, params: unknown[]) => Promise<unknown>,
): Promise<void> {
  const request = fromBinary(RequestSchema, bytes) as unknown as Request;
  const spans = request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  const column = <T>(read: (span: Span) => T): T[] => spans.map(read);
  const value = ({ attributes }: Span, name: string) => attributes.find(({ key }) => key === name)?.value;
  const text = (name: string) => column((span) => value(span, name)?.stringValue ?? null);
  const number = (name: string) => column((span) => Number(value(span, name)?.intValue ?? 0));
  const id = (read: (span: Span) => Uint8Array) => column((span) => Buffer.from(read(span)).toString("hex"));
  await query(INSERT, [
    agent,
    id(({ traceId }) => traceId),
    id(({ spanId }) => spanId),
    id(({ parentSpanId }) => parentSpanId),
    column(() => "model"),
    text("gen_ai.operation.name"),
    column(({ name }) => name),
    text("gen_ai.provider.name"),
    text("gen_ai.request.model"),
    number("gen_ai.usage.input_tokens"),
    number("gen_ai.usage.output_tokens"),
    column(() => null),
    column(({ status }) => status?.code === 2),
    column(({ startTimeUnixNano }) => Number(startTimeUnixNano) / 1e9),
    column(({ startTimeUnixNano, endTimeUnixNano }) => Number(endTimeUnixNano - startTimeUnixNano) / 1e6),
  ]);
}
