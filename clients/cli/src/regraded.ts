import type { ScreeningClient } from "../../typescript/src/client.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import type { Regrading } from "../../typescript/src/regrade.ts";
import type { Step } from "../../../shared/verify/trail.ts";
import { EXIT, Failure } from "./failure.ts";
import { connect, textOf } from "./settings.ts";
import type { Terminal } from "./terminal.ts";

/** Grades a run again from files, or from what the service shows whoever is signed in. */
export async function regraded(
  text: string,
  jwks: string,
  values: Parameters<typeof connect>[0] & { answer?: string; epochs?: string; jwks?: string },
  terminal: Terminal,
): Promise<Regrading> {
  if (values.jwks !== undefined && (values.answer === undefined || values.epochs === undefined))
    throw new Failure(EXIT.usage, "With --jwks nothing is asked of the service: give --answer and --epochs, too.");
  const { regrade, subjectOf } = await import("../../typescript/src/regrade.ts");
  const { runId, epoch } = subjectOf(text);
  const { client } = connect(values, terminal);
  const output = values.answer === undefined ? await answerOf(client, runId) : textOf(values.answer);
  const epochs = values.epochs === undefined ? await epochsUntil(client, epoch) : textOf(values.epochs);
  return regrade(text, { jwks, epochs, output });
}

/** Of a run that the caller does not see, or whose answer is not shown to them. */
const NOT_SHOWN = new Set([403, 404]);

/** What the agent answered, as the service shows it; null where it does not. @throws ServiceError for any other refusal */
async function answerOf(client: ScreeningClient, run_id: string | null): Promise<string | null> {
  if (run_id === null) return null;
  try {
    return JSON.stringify(await given(client.GET("/api/v1/runs/{run_id}/output", { params: { path: { run_id } } })));
  } catch (error) {
    if (error instanceof ServiceError && NOT_SHOWN.has(error.status)) return null;
    throw error;
  }
}

/** The epochs, the newest first, until that of the statement. */
async function epochsUntil(client: ScreeningClient, name: string | null): Promise<string> {
  const items: unknown[] = [];
  for await (const epoch of name === null ? [] : client.each("/api/v1/epochs")) {
    if (epoch.epoch === name) items.push(epoch);
    if (epoch.epoch <= (name ?? "")) break;
  }
  return JSON.stringify({ items });
}

/** What came of it, as a step of the verification. */
export function stepOf({ outcome, detail }: Regrading): Pick<Step, "title" | "outcome" | "detail"> {
  const title = "It is graded again as it was";
  return { title, detail, outcome: outcome === "agrees" ? "passed" : outcome === "differs" ? "failed" : "skipped" };
}
