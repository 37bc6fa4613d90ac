import * as z from "zod";
import { SessionComparison } from "../../../shared/results/compare-sessions.ts";
import { ScreeningSessionRead } from "../../../shared/runs/sessions-shown.ts";
import { Differences } from "./charts/differences.tsx";
import { Matrix } from "./charts/matrix.tsx";
import { counted } from "./in-words.ts";
import { unless } from "./unless.ts";
import type { Visit } from "./view.ts";
import { Moment } from "./moment.tsx";

type Session = z.output<typeof ScreeningSessionRead>;
type Compared = z.output<typeof SessionComparison>;

const Sessions = z.object({
  items: z.array(ScreeningSessionRead.pick({ id: true, status: true, simulated: true, created_at: true })),
});

/** A finished screening against the one of the same agent and suite before it. */
export interface Against {
  before: z.output<typeof Sessions>["items"][number];
  comparison: Compared;
}

/** The screening of the same suite and kind that came last before this one, among the newest 20 of its agent and suite; null without one. */
export async function againstTheOneBefore(api: Visit["api"], session: Session): Promise<Against | null> {
  if (session.suite_id === null || session.status !== "completed") return null;
  const ofSuite = `/api/v1/agents/${session.agent_id}/screening-sessions?suite_id=${session.suite_id}&page_size=20`;
  const sessions = await unless("not_found", api.read(ofSuite, Sessions));
  const before = sessions?.items.find(
    ({ status, simulated, created_at }) =>
      status === "completed" && simulated === session.simulated && created_at < session.created_at,
  );
  if (before === undefined) return null;
  const path = `/api/v1/screening-sessions/${session.id}/compare?with=${before.id}`;
  return { before, comparison: await api.read(path, SessionComparison) };
}

const rate = (results: Compared["by_task"][number]["a"]): number =>
  results === null ? 0 : results.passed / results.runs;

/** What became better and what worse since the screening before. */
export function AgainstTheOneBefore({ against }: { against: Against | null }) {
  if (against === null) return null;
  const { before, comparison } = against;
  const { tasks, difference, difference_low: low, difference_high: high, mcnemar_p_value: p } = comparison;
  const changed = comparison.by_task.filter(({ a, b }) => a !== null && b !== null && rate(a) !== rate(b));
  const cells = (results: Compared["by_task"][number]["a"]) =>
    results === null ? null : { passed: results.passed, tries: results.runs };
  return (
    <>
      <h2>Against the one before</h2>
      <p>
        <a href={`/sessions/${before.id}`}>
          The screening of <Moment time={before.created_at} />
        </a>
        , over the {counted(tasks, "task")} that both asked: {comparison.wins} won, {comparison.losses} lost.
      </p>
      <Differences
        title="Difference in success, in percentage points"
        differences={[{ a: "This screening", b: "The one before", tasks, value: difference, low, high, p }]}
      />
      {changed.length > 0 && (
        <Matrix
          title="Passed runs of the tasks that changed"
          columns={["Before", "Now"]}
          rows={changed.map(({ task_id, title, a, b }) => ({
            name: title ?? "A secret task",
            ...(title === null ? {} : { href: `/tasks/${task_id}` }),
            cells: [cells(b), cells(a)],
          }))}
        />
      )}
    </>
  );
}
