import { sql } from "drizzle-orm";
import type * as z from "zod";
import { change } from "../db/change.ts";
import { certifications } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { admissionOf } from "./admission.ts";
import { newSession } from "./plan.ts";
import { RESERVING, reserving } from "./reserve.ts";
import { runsNeeded } from "./rules.ts";
import { type CertifyCheckoutRequest, CertifyDevGrantResponse } from "./schemas.ts";
import { oweChanges } from "./told.ts";

/** Grants a certification as if it were paid, and begins its screening, in one statement. */
export function grant(
  ctx: Context,
  { userId: viewer }: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<z.output<typeof CertifyDevGrantResponse>> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const { admitted, ...admission } = admissionOf(ctx, viewer, request, true);
  return change(ctx, {
    ...admission,
    parts: sql`with ${admitted}, target as (
      select certification_id, ${newId(now)}::uuid as session_id, agent_id, ${viewer}::uuid as buyer_id,
        ${runsNeeded} as runs_included
      from admitted where outcome = 'done'
    ), ${newSession(now)}, ${reserving(now)}, granted as (
      insert into ${certifications} (id, agent_id, user_id, status, paused_reason, price_usd, runs_included, eu_waiver_at,
        paid_at, screening_session_id)
      select certification_id, agent_id, buyer_id, status, paused_reason, 0, runs_included, ${at}, ${at}, session_id
      from next_state
      on conflict (id) do update set user_id = excluded.user_id, status = excluded.status,
        price_usd = excluded.price_usd, runs_included = excluded.runs_included, paused_reason = excluded.paused_reason,
        eu_waiver_at = excluded.eu_waiver_at, paid_at = excluded.paid_at,
        screening_session_id = excluded.screening_session_id, updated_at = excluded.paid_at
      returning *
    ), changes as (${oweChanges(sql`select * from granted`, now)})`,
    owes: [...RESERVING, "changes"],
    result: sql`select jsonb_build_object('outcome', a.outcome, 'kind', 'dev_grant',
      'certification_id', a.certification_id, 'screening_session_id', s.session_id, 'status', s.status) as result
      from admitted a left join next_state s on true`,
    done: CertifyDevGrantResponse,
  });
}
