import type * as z from "zod";
import type { ScreeningSessionRead } from "../../../shared/runs/sessions-shown.ts";
import { SCORE_GUIDE } from "./guide-addresses.ts";
import { costInWords, counted } from "./in-words.ts";

type Session = z.output<typeof ScreeningSessionRead>;

/** What a finished screening took, in all. */
export function Took({ session }: { session: Session }) {
  const { duration_ms, evidence_cost_usd, priced_runs: priced, counts, composite_score, simulated } = session;
  if (duration_ms === null) return null;
  const runs = counts.completed + counts.failed;
  return (
    <p>
      It took {(duration_ms / 1000).toFixed(1)} seconds
      {evidence_cost_usd !== null &&
        ` and, ${simulated ? "simulated" : "as the agent says"}, ${costInWords(evidence_cost_usd)}`}
      {evidence_cost_usd !== null && priced !== runs && `, known in full of ${priced} of ${counted(runs, "run")}`}.
      {composite_score !== null && (
        <>
          {" "}
          These runs alone come to a score of {composite_score.toFixed(2)}.{" "}
          <a href={SCORE_GUIDE}>How the score comes about</a>
        </>
      )}
    </p>
  );
}
