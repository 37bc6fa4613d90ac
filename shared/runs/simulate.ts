import { createHash } from "node:crypto";
import * as z from "zod";
import type { ExactJson } from "../platform/exact-json.ts";
import { type Answer, type CallOutcome, Json } from "./answer.ts";
import type { Job } from "./job.ts";

/** How often a simulated agent answers with the key, out of 256. */
const RIGHT = 160;

/**
 * The answer of an agent in mode `mock`: drawn from the run's id, so that it is the same whenever it is asked for. It is
 * right in about 5 of 8 runs; nothing is called, and whatever comes of it is marked as simulated.
 */
export function simulate(job: Job): CallOutcome {
  const draw = createHash("sha256").update(`mock:${job.run.id}`).digest();
  const right = draw.readUInt8(0) < RIGHT;
  const latencyMs = Math.round(job.task.reference_latency_ms * (0.5 + draw.readUInt8(1) / 255));
  const cost = job.task.reference_cost_usd * (0.5 + draw.readUInt8(2) / 255);
  const answer: Answer = { ...(right ? keyAnswer(job) : {}), usage: { calls: [{ cost_usd: cost }] } };
  return { kind: "answer", answer, response: new TextEncoder().encode(JSON.stringify(answer)), latencyMs };
}

/** The key of tool calls: each argument with the values that are right. */
const Calls = z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.array(Json)) }));

/** An answer made of the key, where the key is one. */
function keyAnswer({ task }: Job): Answer {
  const key = task.expected_output;
  const calls = task.output_format === "tool_calls" ? Calls.safeParse(key) : undefined;
  if (calls?.success === true) {
    const first = (allowed: Record<string, ExactJson[]>) =>
      Object.fromEntries(Object.entries(allowed).map(([argument, [value = null]]) => [argument, value]));
    const tool_calls = calls.data.map(({ name, arguments: allowed }) => ({ name, arguments: first(allowed) }));
    return { tool_calls };
  }
  if (typeof key === "boolean") return { output: "", refused: key };
  return { output: key };
}
