import * as z from "zod";
import { SCREENING_STATES } from "../db/schema/index.ts";

export const CertifyCheckoutRequest = z
  .strictObject({
    agent_id: z.uuid(),
    // Left out it is no: whether it may be is judged after what comes before it.
    eu_waiver_accepted: z
      .boolean()
      .default(false)
      .meta({
        description:
          "Has to be true, which it is not where it is left out: the screening starts at once, and with it the right of withdrawal from the purchase ends " +
          "(Directive 2011/83/EU, article 16)",
      }),
  })
  .meta({ id: "CertifyCheckoutRequest" });

export const CertifyCheckoutResponse = z
  .object({ kind: z.literal("checkout"), url: z.url(), certification_id: z.uuid() })
  .meta({ id: "CertifyCheckoutResponse" });

export const CertifyDevGrantResponse = z
  .object({
    kind: z.literal("dev_grant"),
    certification_id: z.uuid(),
    screening_session_id: z.uuid(),
    status: z.enum(SCREENING_STATES),
  })
  .meta({ id: "CertifyDevGrantResponse" });

export const CertifyCheckoutOutcome = z
  .discriminatedUnion("kind", [CertifyCheckoutResponse, CertifyDevGrantResponse])
  .meta({ id: "CertifyCheckoutOutcome" });
