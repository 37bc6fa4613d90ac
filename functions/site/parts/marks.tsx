import type * as z from "zod";
import type { LeaderboardRow } from "../../../shared/board/shown.ts";

type Row = z.output<typeof LeaderboardRow>;

/** What has to be known of an agent before its score is read. */
type Qualified = Pick<Row, "simulated" | "memorised" | "uneven"> & { score_basis: Row["score_basis"] | null };

/** What qualifies an agent's score, wherever it stands beside others. */
export function Marks({ of: { simulated, score_basis, memorised, uneven } }: { of: Qualified }) {
  return (
    <>
      {simulated && <span class="tag">simulated</span>}
      {!simulated && score_basis === "provisional" && <span class="tag">provisional</span>}
      {memorised && <span class="tag bad">memorised</span>}
      {uneven && <span class="tag bad">uneven</span>}
    </>
  );
}
