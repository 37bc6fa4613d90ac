import * as z from "zod";
import { FAILURE_CODES } from "./answer.ts";

export const ConnectionTestResult = z
  .object({
    ok: z.boolean().meta({ description: "Whether the endpoint answered by its protocol; a wrong answer is one too" }),
    status_code: z.int().nullable().meta({ description: "Null where no complete answer and no redirect came" }),
    latency_ms: z.int().meta({ description: "From sending to the last byte; 0 where nothing was sent" }),
    failure_code: z.enum(FAILURE_CODES).nullable().meta({ description: "What a run would have failed with" }),
    detail: z.string().meta({ description: "What happened and what mends it; nothing of the answer is quoted" }),
  })
  .meta({ id: "ConnectionTestResult" });
