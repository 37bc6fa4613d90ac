import * as z from "zod";
import { AnswerJson } from "../answer.ts";
import type { Protocol, Reading } from "./protocol.ts";
import { answered, misfit, ToolCalls } from "./reading.ts";

/** The version of the native protocol. */
const NATIVE_VERSION = "2026-11";

const NativeAnswer = z.object({
  output: AnswerJson.optional(),
  refused: z.boolean().nullish(),
  tool_calls: ToolCalls.nullish(),
  usage: AnswerJson.optional(),
});

/** Reads the native answer `{output, refused?, tool_calls?, usage?}`; other fields are ignored. */
export function readNative(body: unknown): Reading {
  const parsed = NativeAnswer.safeParse(body);
  return parsed.success ? answered(parsed.data) : misfit(parsed.error);
}

/** The service's own protocol: one JSON request, answered at once or by callback. */
export const native: Protocol = {
  callsBack: true,
  request({ run, task }, callback) {
    return {
      protocol: NATIVE_VERSION,
      run_id: run.id,
      screening_session_id: run.screening_session_id,
      repeat_index: run.repeat_index ?? 1,
      repeat_total: run.repeat_total ?? 1,
      task: {
        domain: task.domain,
        prompt: task.prompt,
        ...(task.input === null ? {} : { input: task.input }),
        output_format: task.output_format,
        ...(task.output_schema === null ? {} : { output_schema: task.output_schema }),
        ...(task.tools === null ? {} : { tools: task.tools }),
      },
      deadline: callback.deadline,
      callback: { method: "PATCH", url: callback.url, token: callback.token },
    };
  },
  read: readNative,
};
