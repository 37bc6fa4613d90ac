import { Buffer } from "node:buffer";
import type * as z from "zod";
import type { TaskRead } from "../../../shared/catalogue/shown.ts";
import type { RunOutput } from "../../../shared/runs/records-shown.ts";
import type { RunRead } from "../../../shared/runs/shown.ts";

/** A page stays small, whatever an agent answers; the whole of it is one link away. */
const MOST = 8000;

function Text({ text }: { text: string }) {
  return (
    <>
      <pre dir="auto">{text.slice(0, MOST)}</pre>
      {text.length > MOST && (
        <p class="mute">
          The first {MOST} of {text.length} characters.
        </p>
      )}
    </>
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Why there is no answer of a run that was not asked to the end. */
const UNANSWERED: Readonly<Record<string, string>> = {
  queued: "Nothing yet: it was not asked yet.",
  running: "Nothing yet: it was asked, and its answer or report is waited for.",
  cancelled: "Nothing: it was cancelled before it was asked.",
};

interface ExchangeProps {
  task: z.output<typeof TaskRead> | null;
  output: z.output<typeof RunOutput> | null;
  run: Pick<z.output<typeof RunRead>, "id" | "canary" | "status">;
}

/** What was asked and answered, as far as the visitor may see it. */
export function Exchange({ task, output, run }: ExchangeProps) {
  const instance = output?.instance ?? null;
  const asked = instance ?? (task?.instances === "fixed" || run.canary === true ? task : null);
  const response = output?.response ?? null;
  return (
    <>
      <h2>What was asked</h2>
      {asked?.prompt != null && <Text text={asked.prompt} />}
      {asked?.input != null && <Text text={textOf(asked.input)} />}
      {asked?.prompt == null && (
        <p>
          {task?.is_secret === true
            ? "The task is secret: nobody is shown what it asks."
            : "What this run was asked is not shown to you, or not yet. It was drawn for this run alone."}
        </p>
      )}
      <h2>What was answered</h2>
      {output === null ? (
        <p>Only the agent's owner and the members of its workspace may see the answer, unless it was published.</p>
      ) : response === null ? (
        <p>{UNANSWERED[run.status] ?? "No answer was kept."}</p>
      ) : (
        <Text
          text={output.output === null ? Buffer.from(response.body_base64, "base64").toString() : textOf(output.output)}
        />
      )}
      {output?.explanation != null && (
        <>
          <h3>How it was graded</h3>
          <p>{output.explanation}</p>
        </>
      )}
      {instance?.expected_output != null && (
        <>
          <h3>What would have been right</h3>
          <Text text={textOf(instance.expected_output)} />
        </>
      )}
      {output !== null && (
        <p>
          <a href={`/runs/${run.id}/files/output`}>All bytes, with the salts of their commitments</a>
        </p>
      )}
    </>
  );
}
