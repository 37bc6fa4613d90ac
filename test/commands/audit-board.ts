/**
 * `npm run audit:board -- BASE_URL [AGENT_ID…]`: computes rows of the board again from public reads alone, to the last
 * digit: the runs that are scored, their signed statements, which it verifies, the tasks' references and the price list.
 * Without ids it goes through the whole board. Prints what differs, and ends with 1 where anything does.
 */
import { isAddress } from "./address.ts";
import { auditBoard } from "./audit/board.ts";

const [base, ...agentIds] = process.argv.slice(2);
if (base === undefined || !isAddress(base)) {
  console.error("Give the service's address: npm run audit:board -- https://SERVICE [AGENT_ID…]");
  process.exitCode = 2;
} else {
  try {
    for await (const { row, differences } of auditBoard(base, agentIds)) {
      const what = `${row.rank ?? "–"}\t${row.composite_score.toFixed(2)}\t${row.agent_id}\t${row.name}`;
      if (differences === null) console.log(`${what}\tsimulated: nothing is signed`);
      else console.log(`${what}\t${differences.length === 0 ? "as its evidence says" : "DIFFERS"}`);
      for (const difference of differences ?? []) console.log(`\t${difference}`);
      if (differences !== null && differences.length > 0) process.exitCode = 1;
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
