import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { attributesOf, type OtlpSpan, protobufRequest, spanOf } from "../unit/telemetry/otlp.ts";
import type { Baseline } from "./baseline.ts";
import { type Measured, ratio } from "./measure.ts";

const ROUNDS = 12;
/** As many as are thrown away to warm up; see `ratio`. */
const WARM_UP = 3;
const RUNS = 5;
const SPANS_OF_RUN = 2000;

const ATTRIBUTES = attributesOf({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.usage.input_tokens": 1200,
  "gen_ai.usage.output_tokens": 300,
});

/** What an export of 10,000 spans takes, over a bare Worker that parses the same bytes and inserts what they say. */
export async function spansRatio(
  receiver: { agent: string; endpoint: string; headers: Record<string, string> },
  baseline: Baseline,
  pool: Pool,
): Promise<Measured> {
  const { agent, endpoint, headers } = receiver;
  const { rows } = await pool.query<{ id: string }>(
    `insert into runs (agent_id, task_id, trigger, scope, status, finalized_at)
     select $1, (select id from tasks limit 1), 'manual', 'personal', 'completed', now() from generate_series(1, $2)
     returning id`,
    [agent, 2 * RUNS * (ROUNDS + WARM_UP)],
  );
  const requests = Array.from({ length: 2 * (ROUNDS + WARM_UP) }, (_none, batch) =>
    protobufRequest(rows.slice(batch * RUNS, (batch + 1) * RUNS).flatMap(({ id }) => spansOf(id))),
  );
  const post = async (url: string) => {
    const sent = { ...headers, "content-type": "application/x-protobuf" };
    const answer = await fetch(url, { method: "POST", headers: sent, body: requests.pop() ?? null });
    const { byteLength } = await answer.arrayBuffer();
    if (answer.status !== 200 || byteLength > 0) throw new Error(`${url} answered with ${answer.status}`);
  };
  return ratio(
    ROUNDS,
    () => post(`${endpoint}/v1/traces`),
    () => post(`${baseline.url}/spans/${agent}`),
  );
}

function spansOf(run: string): OtlpSpan[] {
  const traceId = run.replaceAll("-", "");
  const id = () => randomBytes(8).toString("hex");
  return Array.from({ length: SPANS_OF_RUN }, () =>
    spanOf({ traceId, spanId: id(), parentSpanId: id(), name: "chat gpt-4o", attributes: ATTRIBUTES }),
  );
}
