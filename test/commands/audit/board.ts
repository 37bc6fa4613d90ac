import { readsOf } from "./reads.ts";
import { differences, readStandard, recompute, Row } from "./row.ts";

/** What an audit of a row came to. */
export interface Audit {
  row: Row;
  /** Each in words; none where the row is what its evidence makes it. Null where there is nothing to compute it from. */
  differences: string[] | null;
}

/**
 * Computes rows of the board of a service again, from public reads alone: those of `agentIds`, or all. Each row comes as
 * soon as it is computed; `headers` go along with each read. Throws where an agent is not on the board, or the service does not answer.
 */
export async function* auditBoard(
  base: string,
  agentIds: readonly string[] = [],
  headers: Record<string, string> = {},
): AsyncGenerator<Audit> {
  const reads = readsOf(base, headers);
  const rows = await reads.all("/api/v1/leaderboard", Row);
  const missing = agentIds.find((id) => !rows.some(({ agent_id }) => agent_id === id));
  if (missing !== undefined) throw new Error(`the board has no agent ${missing}`);
  const standard = await readStandard(reads);
  for (const row of rows) {
    if (agentIds.length > 0 && !agentIds.includes(row.agent_id)) continue;
    const computed = row.simulated ? null : await recompute(reads, standard, row.agent_id);
    if (computed === null) yield { row, differences: row.simulated ? null : ["it has no scored run"] };
    else {
      const own = differences("", row, { ...computed.row, ...placeOf(row, rows) });
      yield { row, differences: [...computed.differences, ...own] };
    }
  }
}

/** The place of a row by all rows of its board, and those that its interval does not rule out. */
function placeOf(row: Row, rows: readonly Row[]): Pick<Row, "rank" | "rank_low" | "rank_high"> {
  if (row.score_basis !== "core" || row.simulated) return { rank: null, rank_low: null, rank_high: null };
  const ranked = rows.filter(({ score_basis, simulated }) => score_basis === "core" && !simulated);
  const many = (holds: (other: Row) => boolean) => ranked.filter(holds).length;
  const isBefore = (other: Row) =>
    other.composite_score > row.composite_score ||
    (other.composite_score === row.composite_score &&
      (other.runs > row.runs || (other.runs === row.runs && other.agent_id < row.agent_id)));
  return {
    rank: 1 + many(isBefore),
    rank_low: 1 + many((other) => other.score_low > row.score_high),
    rank_high: ranked.length - many((other) => other.score_high < row.score_low),
  };
}
