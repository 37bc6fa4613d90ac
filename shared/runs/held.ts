import { type SQL, sql } from "drizzle-orm";
import { held_results, isOpenRun, runs } from "../db/schema/index.ts";
import type { PhaseEvent } from "./phases.ts";

/** The fact that a run was signed, or that there is nothing to sign. */
export function signing(isSigned: boolean): PhaseEvent {
  return { phase: "evidence_signed", outcome: isSigned ? "succeeded" : "not_applicable" };
}

/**
 * SQL: a part that puts aside what would tell canaries from other runs, for each row of `source`, a query of the columns
 * `id`, `is_canary`, `jws` and `kid`.
 */
export function holdResults(source: SQL): SQL {
  return sql`insert into ${held_results} (run_id, is_canary, jws, kid)
    select id, is_canary, jws, kid from (${source}) h on conflict (run_id) do nothing`;
}

/** SQL: a part that takes out what is put aside for the runs of a session, unless one of them is still open; returns it. */
export function releaseResults(sessionId: SQL): SQL {
  return sql`delete from ${held_results} h using ${runs} r
    where r.id = h.run_id and r.screening_session_id = ${sessionId} and not exists (
      select from ${runs} o where o.screening_session_id = ${sessionId} and ${isOpenRun(sql`o.status`)})
    returning h.*`;
}
