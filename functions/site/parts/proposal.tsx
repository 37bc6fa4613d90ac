import type * as z from "zod";
import type { TaskSubmissionRead } from "../../../shared/catalogue/submissions/schemas.ts";
import { percent } from "../layout.tsx";
import type { Suite } from "./catalogue.ts";
import { Choose, Field, Form, type Wrong } from "./form.tsx";

type Proposal = z.output<typeof TaskSubmissionRead>;

/** How much of one part is shown, so that the page stays small. */
const MOST = 8000;
const FLAGS: Record<Proposal["flags"][number], string> = {
  near_duplicate: "nearly the same as an active public task",
  key_in_prompt: "the key may stand in what is asked",
  asks_for_credentials: "it may ask for credentials",
  contains_url: "an address of a site is in it",
};
/** What the fields of both decisions are called. */
export const PROPOSAL_LABELS = {
  suite_id: "Into the suite",
  time_limit_ms: "Time limit in milliseconds",
  reference_cost_usd: "Cost in USD that counts as cheap",
  reason: "Reason",
};

/** A part of the proposal, where it has it; `all` is where the whole of it stands. */
function Part({ title, value, all }: { title: string; value: unknown; all: string }) {
  if (value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <>
      <h3>{title}</h3>
      <pre dir="auto">{text.slice(0, MOST)}</pre>
      {text.length > MOST && (
        <p>
          The first {MOST} of {text.length} characters. <a href={all}>Read the rest</a> before you decide.
        </p>
      )}
    </>
  );
}

/** All that a proposal says, for who decides on it. */
export function ProposalShown({ proposal, all }: { proposal: Proposal; all: string }) {
  const { grader, expected_output, flags, rationale, rejection_reason, task_id } = proposal;
  return (
    <>
      <dl>
        <dt>State</dt>
        <dd>
          {proposal.status}
          {task_id !== null && (
            <>
              : it became <a href={`/tasks/${task_id}`}>a task</a>
            </>
          )}
          {rejection_reason !== null && `: ${rejection_reason}`}
        </dd>
        <dt>Domain</dt>
        <dd>{proposal.domain.replaceAll("_", " ")}</dd>
        {flags.length > 0 && (
          <>
            <dt>To look at</dt>
            <dd>{flags.map((flag) => FLAGS[flag]).join("; ")}</dd>
          </>
        )}
        <dt>Passed from</dt>
        <dd>{percent(proposal.pass_threshold)}</dd>
        <dt>Time</dt>
        <dd>{proposal.time_limit_ms} ms at most</dd>
      </dl>
      <Part title="Why it is worth having" value={rationale} all={all} />
      <Part title="What is asked" value={proposal.prompt} all={all} />
      <Part title="Input" value={proposal.input} all={all} />
      <Part title="Tools" value={proposal.tools} all={all} />
      <Part
        title={`Schema of the answer, which is ${proposal.output_format}`}
        value={proposal.output_schema}
        all={all}
      />
      <Part title="Grader" value={grader} all={all} />
      <Part title="Key" value={expected_output} all={all} />
    </>
  );
}

interface DecisionProps {
  /** Where both forms are sent. */
  action: string;
  proposal: Proposal;
  suites: readonly Suite[];
  typed?: URLSearchParams | undefined;
  wrong?: Wrong | undefined;
}

/** The two ways to decide on a proposal that waits. */
export function Decision({ action, proposal, suites, typed, wrong }: DecisionProps) {
  return (
    <>
      <h3>Make it a task</h3>
      <Form action={action} button="Approve it">
        <input type="hidden" name="do" value="approve" />
        <Choose
          label={PROPOSAL_LABELS.suite_id}
          name="suite_id"
          value={typed?.get("suite_id") ?? ""}
          options={[["", "none"], ...suites.map(({ id, name }) => [id, name] as const)]}
          hint="It goes to the end of it, and is secret where the suite is."
          wrong={wrong}
        />
        <Field
          label={PROPOSAL_LABELS.time_limit_ms}
          name="time_limit_ms"
          type="number"
          value={typed?.get("time_limit_ms") ?? String(proposal.time_limit_ms)}
          wrong={wrong}
        />
        <Field
          label={PROPOSAL_LABELS.reference_cost_usd}
          name="reference_cost_usd"
          value={typed?.get("reference_cost_usd")}
          hint="Without one, the median of the shipped suites."
          wrong={wrong}
          optional
        />
      </Form>
      <h3>Close it</h3>
      <Form action={action} button="Reject it" danger>
        <input type="hidden" name="do" value="reject" />
        <Field
          label={PROPOSAL_LABELS.reason}
          name="reason"
          value={typed?.get("reason")}
          hint="The submitter is told it, by mail too."
          wrong={wrong}
        />
      </Form>
    </>
  );
}
