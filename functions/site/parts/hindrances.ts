import type * as z from "zod";
import type { CertifyEligibility } from "../../../shared/certification/shown.ts";

type Hindrance = z.output<typeof CertifyEligibility>["reasons"][number];

/** What keeps an agent from being certified, in words. */
export const HINDRANCES: Record<Hindrance, string> = {
  certify_disabled: "Certificates are not on offer at the moment",
  mock_only: "It has no endpoint to call",
  retired_connection: "Its connection is no longer supported",
  no_endpoint: "It has no endpoint to call, or is retired",
  already_certified: "It is certified already",
  in_progress: "Its certification is under way",
};
