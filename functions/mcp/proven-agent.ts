import type * as z from "zod";
import { Problem } from "../../shared/platform/problem.ts";
import { ConnectionTestResult } from "../../shared/runs/connection-shown.ts";
import { AgentReadiness } from "../../shared/runs/readiness-shown.ts";
import type { ConnectionTest } from "../../shared/runs/test-connection.ts";
import { failsSurely, isOfTestAlone, type Tried, triedFirst } from "../../shared/runs/tried-first.ts";
import { type ToolApi, ToolFailure } from "./tool-api.ts";

/** How an agent is tested before its runs, and by which key the request that spends them may have been sent before. */
interface Testing {
  skip: boolean;
  key: string | undefined;
}

/**
 * Has an agent of this id, or an endpoint that belongs to none yet, called with a tiny task before runs are spent on it; resolves
 * to what is to be said of that. What is sent again with its key spends nothing, and is not held up. Throws `ToolFailure` where
 * each run would surely fail.
 */
export async function provenToAnswer(
  api: ToolApi,
  agent: string | z.input<typeof ConnectionTest>,
  { skip, key }: Testing,
): Promise<string | undefined> {
  if (skip) return undefined;
  let tried: Tried;
  try {
    tried = await triedFirst(() => calledOnce(api, agent));
  } catch (error) {
    if (!(error instanceof Problem) || !isOfTestAlone(error.status)) throw error;
    return `The agent was not tested first: ${error.message}`;
  }
  const { failure_code, detail } = tried;
  if (failure_code === null) return undefined;
  const what = [failure_code, detail].filter(Boolean).join(": ");
  if (!failsSurely(tried)) return `The agent fails a test, but may do better at a task. ${what}`;
  if (key !== undefined && (await api.wasSent(key))) return undefined;
  throw new ToolFailure(
    `${what}\nThe agent was called once first, and would fail each run so: none is spent. Mend it, or wait until it is up; ` +
      "skip_test screens it as it is.",
  );
}

async function calledOnce(api: ToolApi, agent: string | z.input<typeof ConnectionTest>): Promise<Tried> {
  if (typeof agent !== "string")
    return ConnectionTestResult.parse(await api.send("POST", "/api/v1/integrations/test-connection", agent));
  const { endpoint } = AgentReadiness.parse(await api.send("POST", `/api/v1/agents/${agent}/readiness/check`));
  return endpoint.state === "failing" ? endpoint : { failure_code: null };
}
