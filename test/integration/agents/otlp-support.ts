import { gzipSync } from "node:zlib";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import { jsonRequest, type OtlpSpan, protobufRequest, spanOf } from "../../unit/telemetry/otlp.ts";
import { addAgent, range } from "../runs/support.ts";

export const PROTOBUF = { "content-type": "application/x-protobuf" };
export const JSON_TYPE = { "content-type": "application/json" };

/** An agent that may send telemetry. */
export interface Sender {
  owner: User;
  agent: string;
  token: string;
  /** The base URL and the headers that its exporter is to be given. */
  endpoint: string;
  headers: Record<string, string>;
}

/** Registers an agent with an endpoint and gives it a receiver token. */
export async function newSender(owner: User): Promise<Sender> {
  const agent = await addAgent(owner, { endpoint: "http://127.0.0.1:9/run" });
  const { body, status, text } = await owner.call("POST", `/api/v1/agents/${agent}/otlp-token`);
  if (status !== 200) throw new Error(text);
  return { owner, agent, token: body.token, endpoint: body.endpoint, headers: body.headers };
}

/** Adds a run of an agent as it stands after its dispatch. Returns its id. */
export async function addRunRow(
  service: TestService,
  agent: string,
  options: { simulated?: boolean; endedAt?: Date } = {},
): Promise<string> {
  const { simulated = false, endedAt = null } = options;
  const [row] = await service.sql<{ id: string }>(
    `insert into runs (agent_id, task_id, trigger, scope, simulated, status, finalized_at)
     values ($1, (select id from tasks limit 1), 'manual', 'personal', $2, 'running', $3) returning id`,
    [agent, simulated, endedAt],
  );
  if (row === undefined) throw new Error("no run");
  return row.id;
}

/** The trace id that the spans of a run carry. */
export const traceOf = (run: string): string => run.replaceAll("-", "");

/** Spans of a run's trace. */
export const spansOf = (id: string, count: number): OtlpSpan[] =>
  range(count).map(() => spanOf({ traceId: traceOf(id) }));

/** An answer of the receiver. */
export interface Export {
  status: number;
  headers: Headers;
  body: Buffer;
}

let addresses = 0;

/** Sends a body to the receiver as it is, from an address that nobody else sends from. */
export async function post(
  service: TestService,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<Export> {
  addresses += 1;
  const response = await fetch(`${service.url}/api/v1/otlp/v1/traces`, {
    method: "POST",
    headers: { "cf-connecting-ip": `10.90.${addresses >> 8}.${addresses & 255}`, ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

/** Exports spans with an agent's token. */
export function send(
  service: TestService,
  { headers }: Pick<Sender, "headers">,
  spans: readonly OtlpSpan[],
  options: { json?: boolean; gzip?: boolean } = {},
): Promise<Export> {
  const { json = false, gzip = false } = options;
  const body = json ? new TextEncoder().encode(jsonRequest(spans)) : protobufRequest(spans);
  return post(service, gzip ? new Uint8Array(gzipSync(body)) : body, {
    ...headers,
    "content-type": json ? "application/json" : "application/x-protobuf",
    ...(gzip ? { "content-encoding": "gzip" } : {}),
  });
}

/** How many spans are kept, of a run or of all. */
export async function keptSpans(service: TestService, run: string | null = null): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    "select count(*)::integer as count from spans where run_id = coalesce($1, run_id)",
    [run],
  );
  return row?.count ?? 0;
}

/** The fields of a protobuf message: numbers, and texts of what is delimited by its length. */
export function fieldsOf(bytes: Uint8Array): Record<number, number | string> {
  const reader = new BinaryReader(bytes);
  const fields: Record<number, number | string> = {};
  while (reader.pos < bytes.length) {
    const [field, wire] = reader.tag();
    fields[field] = wire === WireType.Varint ? reader.uint32() : Buffer.from(reader.bytes()).toString("latin1");
  }
  return fields;
}
