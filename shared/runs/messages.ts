import * as z from "zod";
import type { Message } from "../platform/message.ts";

/** The message that has a queued run dispatched; its flow key keeps the calls to one agent within bounds. */
export function dispatchMessage(run: { id: string; agent_id: string }): Message {
  return {
    consumer: "dispatch",
    id: run.id,
    generation: 0,
    body: { run_id: run.id },
    flow_key: run.agent_id,
    not_before: null,
  };
}

/** The message that has an answered run graded; where its telemetry is waited for, not before that has come. */
export function scoreMessage(runId: string, generation: number, notBefore: string | null): Message {
  return { consumer: "score", id: runId, generation, body: { run_id: runId }, flow_key: null, not_before: notBefore };
}

/** The body of every message about a run. */
export const RunMessage = z.strictObject({ run_id: z.uuid() });

/** The body of the message about a session that has finished. */
export const SessionMessage = z.strictObject({ screening_session_id: z.uuid() });
