import type * as z from "zod";
import type { AgentHistory } from "../../../shared/board/history-shown.ts";
import { LineChart } from "./charts/line.tsx";

interface ScoreLineProps {
  title: string;
  /** Day by day, the newest first. */
  history: z.output<typeof AgentHistory>["items"];
}

/** An agent's score over days. What does not count for a rank, be it provisional or simulated, is told apart. */
export function ScoreLine({ title, history }: ScoreLineProps) {
  return (
    <LineChart
      title={title}
      points={history.toReversed().map((on) => ({
        day: on.day,
        value: on.composite_score,
        low: on.score_low,
        high: on.score_high,
        ...(on.simulated ? { aside: "simulated" } : on.score_basis === "provisional" && { aside: "provisional" }),
      }))}
    />
  );
}
