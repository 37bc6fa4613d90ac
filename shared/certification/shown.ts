import * as z from "zod";
import { CERTIFICATION_STATES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { GIVE_UP_DAYS, PASS_SCORE, PRICE_USD, REPEATS, VALID_DAYS } from "./terms.ts";

const price = z.number().meta({ description: "In US dollars, once", example: PRICE_USD });

export const CertifyDiagnostic = z
  .object({
    enabled: z
      .boolean()
      .meta({ description: "Whether certifications are on offer, for which the secret suites have to be, too" }),
    secret_suites_enabled: z.boolean(),
    price_usd: price,
    price_configured: z.boolean().meta({ description: "Whether the payment provider has a price to charge" }),
    payment_configured: z.boolean(),
    dev_mode: z.boolean().meta({ description: "Whether certifications are granted at once and cost nothing" }),
    repeats: z.int().meta({ description: "Runs of each task", example: REPEATS }),
    task_count: z.int().meta({ description: "Active tasks of the core suite and of every secret suite" }),
    pass_score: z.number().meta({ description: "The least composite score, 0 to 100", example: PASS_SCORE }),
    valid_days: z.int().meta({ example: VALID_DAYS }),
  })
  .meta({ id: "CertifyDiagnostic" });

/** Why an agent can't be certified now, in the order in which an answer lists the reasons. */
export const Reason = z.enum([
  "certify_disabled",
  "mock_only",
  "retired_connection",
  "no_endpoint",
  "already_certified",
  "in_progress",
]);

export const CertifyEligibility = z
  .object({
    agent_id: z.uuid(),
    eligible: z.boolean(),
    reasons: z.array(Reason).meta({
      description:
        "Every reason against it; empty if it is eligible. `no_endpoint` is also the reason for a deactivated agent",
    }),
    price_usd: price,
    runs_needed: z.int().meta({
      description: "How many runs a certification needs that is bought now; the price includes them",
    }),
  })
  .meta({ id: "CertifyEligibility" });

export const CertifyStatusResponse = z
  .object({
    agent_id: z.uuid(),
    certification_id: z.uuid().nullable(),
    status: z.enum(["none", ...CERTIFICATION_STATES]),
    screening_session_id: z.uuid().nullable(),
    progress: z.object({ total: z.int(), finished: z.int(), passed: z.int() }).meta({
      description:
        "Runs; one that is repeated after a fault of the service counts once, and is not finished before a repeat was " +
        "carried out",
    }),
    runs_missing: z.int().meta({
      description:
        "How many runs the service could not carry out, where it ended without them: 0 as long as it goes on. It has no " +
        `score then, since nothing can be said of the agent after ${GIVE_UP_DAYS} days of tries, unless enough had failed ` +
        "already that these runs could not have changed the outcome",
    }),
    paused_reason: z.string().nullable().meta({ description: "What it waits for; it continues by itself" }),
    score: z
      .number()
      .nullable()
      .meta({ description: "The composite score over exactly the runs of the certification" }),
    issued_at: Instant.nullable(),
    expires_at: Instant.nullable(),
  })
  .meta({ id: "CertifyStatusResponse" });
