import { type SQL, sql } from "drizzle-orm";
import { suites, tasks } from "../db/schema/index.ts";
import type { Principal } from "../identity/principal.ts";
import { LIMITS } from "./limits.ts";
import { templateVersion } from "./minting.ts";

/** Who submits: a caller, or a schedule in the name of an account. */
export type Submitter = Principal | { kind: "schedule"; userId: string };

/** What is to be run, and how often. */
export interface Submission {
  agentId: string;
  tasks:
    | { kind: "one"; taskId: string }
    | { kind: "exact"; taskIds: string[] }
    | { kind: "suite"; suiteId: string }
    | { kind: "catalogue" };
  repeats: number;
  isPrivate: boolean;
}

/** SQL: the tasks asked for, in order. Those that are `ok` can be run; those that are `missing` don't exist for the caller. */
export function wantedTasks({ tasks: wanted }: Pick<Submission, "tasks">): SQL {
  const columns = sql`t.id, t.suite_id, t.suite_version, ${templateVersion} is not null as is_minted`;
  switch (wanted.kind) {
    case "one":
    case "exact": {
      const ids = wanted.kind === "one" ? [wanted.taskId] : wanted.taskIds;
      return sql`select ${columns}, w.position::integer as position, coalesce(t.is_active, false) as ok, t.id is null as missing
        from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality as w(id, position)
        left join ${tasks} t on t.id = w.id::uuid and not t.is_secret`;
    }
    case "suite":
      return sql`select ${columns}, row_number() over (order by t.position, t.id)::integer as position, true as ok, false as missing
        from ${tasks} t where t.suite_id = ${wanted.suiteId}::uuid and t.is_active and not t.is_secret`;
    case "catalogue":
      return sql`select ${columns}, row_number() over (order by s.created_at nulls last, s.id, t.position, t.id)::integer as position,
          true as ok, false as missing
        from ${tasks} t left join ${suites} s on s.id = t.suite_id where t.is_active and not t.is_secret
        order by position limit ${LIMITS.tasksPerBatch}`;
  }
}
